package control

// SecretsVariable is the environment variable with the secrets provider of a lab's new stacks: a
// key that the daemon serves, and keeps until the lab is removed. The passphrase, which the
// environment has too, is of stacks from before, and of those that plain pulumi makes.
const SecretsVariable = "TOMBOLO_LAB_SECRETS"
