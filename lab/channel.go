package lab

// ChannelVariable is the environment variable with the address of the platform's channel, as
// cluster files of the lab name it in gitops.channel: the inbox's channel platform.
const ChannelVariable = "TOMBOLO_CHANNEL"

const channelAddress = "http://inbox.lab.test/platform"
