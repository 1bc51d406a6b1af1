package controlplane

import (
	"fmt"
	"slices"
	"strconv"

	"tombolo/lab/pki"
)

// etcdArgs: one member, TLS on every listener, and no wait for the disk: a lab
// that loses power is started anew.
func etcdArgs(dir string, authority *pki.Authority, listen etcdPorts) []string {
	client, peer := local("https", listen.client), local("https", listen.peer)
	crt, key, ca := authority.CertFile(servingCert), authority.KeyFile(servingCert), authority.CertFile("ca")
	return []string{
		"--name=lab", "--data-dir=" + dir,
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=lab=" + peer,
		"--cert-file=" + crt, "--key-file=" + key, "--trusted-ca-file=" + ca, "--client-cert-auth=true",
		"--peer-cert-file=" + crt, "--peer-key-file=" + key, "--peer-trusted-ca-file=" + ca, "--peer-client-cert-auth=true",
		"--unsafe-no-fsync=true", "--log-level=warn",
	}
}

func (c *cluster) etcdArgs() []string { return etcdArgs(c.file("etcd"), c.ca, c.ports.etcd) }

// storeArgs say where the API server keeps its objects.
func (c *cluster) storeArgs() []string {
	endpoint, ca := local("https", c.ports.etcd.client), c.ca
	var args []string
	if c.shared != nil {
		endpoint, ca = c.shared.endpoint(), c.shared.ca
		// Nothing collects garbage here: what waits for that would wait forever.
		args = []string{"--etcd-prefix=" + prefix(c.spec.Name), "--enable-garbage-collector=false"}
	}
	return append(args,
		"--etcd-servers="+endpoint, "--etcd-cafile="+ca.CertFile("ca"),
		"--etcd-certfile="+ca.CertFile(etcdClientCert), "--etcd-keyfile="+ca.KeyFile(etcdClientCert))
}

func (c *cluster) apiServerArgs() []string {
	args := []string{
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + strconv.Itoa(c.ports.api),
		// The kubernetes Service cannot have a loopback endpoint.
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + c.ca.CertFile(servingCert), "--tls-private-key-file=" + c.ca.KeyFile(servingCert),
		"--client-ca-file=" + c.ca.CertFile("ca"),
		"--service-account-issuer=" + c.spec.Issuer,
		"--service-account-key-file=" + c.ca.CertFile(serviceAccountKey),
		"--service-account-signing-key-file=" + c.ca.KeyFile(serviceAccountKey),
		"--service-cluster-ip-range=" + c.serviceCIDR(),
		"--authorization-mode=Node,RBAC",
		"--authentication-token-webhook-config-file=" + c.file("token-review.kubeconfig"),
		"--authentication-token-webhook-version=v1",
		// Short, so that a removed access entry takes effect at once.
		"--authentication-token-webhook-cache-ttl=10s",
		"--allow-privileged=true",
		// As on EKS and AKS, whose control planes are not in the network of Services: a webhook is asked
		// at the endpoints of its Service, and fails at once when there are none.
		"--enable-aggregator-routing=true",
		// One user on one machine: no fair queuing, no profiling.
		"--enable-priority-and-fairness=false", "--profiling=false", "--v=0",
	}
	return slices.Concat(args, c.storeArgs(), c.emulation())
}

func (c *cluster) controllerManagerArgs() []string {
	return append(c.componentArgs(controllersCert, c.ports.controllers),
		"--root-ca-file="+c.ca.CertFile("ca"),
		"--service-account-private-key-file="+c.ca.KeyFile(serviceAccountKey),
		"--use-service-account-credentials=true",
		"--cluster-name="+c.spec.Name,
		// What has nothing to do here: no cloud, no volumes to attach, no
		// node networks, no requests for certificates.
		"--controllers=*,-node-ipam-controller,-node-route-controller,-service-lb-controller,-cloud-node-lifecycle-controller,"+
			"-persistentvolume-attach-detach-controller,-persistentvolume-expander-controller,-certificatesigningrequest-signing-controller",
	)
}

func (c *cluster) schedulerArgs() []string {
	return c.componentArgs(schedulerCert, c.ports.scheduler)
}

// componentArgs are the arguments that the controller manager and the scheduler
// share.
func (c *cluster) componentArgs(name string, port int) []string {
	kubeconfig := c.file(name + ".kubeconfig")
	args := []string{
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + c.ca.CertFile(servingCert), "--tls-private-key-file=" + c.ca.KeyFile(servingCert),
		"--client-ca-file=" + c.ca.CertFile("ca"),
		"--leader-elect=false", "--profiling=false",
		"--kube-api-qps=200", "--kube-api-burst=400",
	}
	return append(args, c.emulation()...)
}

// kwokArgs have kwok make nodes and pods ready.
func (c *cluster) kwokArgs() ([]string, error) {
	args := []string{
		"--kubeconfig=" + c.file("admin.kubeconfig"),
		"--manage-all-nodes=true",
		"--node-ip=127.0.0.1",
		"--node-lease-duration-seconds=40",
		fmt.Sprintf("--server-address=127.0.0.1:%d", c.ports.kwok),
	}
	configs, err := c.kwokConfigs()
	for _, file := range configs {
		args = append(args, "--config="+file)
	}
	return args, err
}

// emulation has the binaries behave as an older minor version.
func (c *cluster) emulation() []string {
	if version := olderMinor(c.spec.Version); version != "" {
		return []string{"--emulated-version=" + version}
	}
	return nil
}

func (c *cluster) serviceCIDR() string {
	if c.spec.ServiceCIDR != "" {
		return c.spec.ServiceCIDR
	}
	return "172.20.0.0/16" // what EKS takes for a VPC in 10.0.0.0/8
}
