package aws

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// tokenPrefix and tokenLifetime are those of `aws eks get-token`. EKS accepts a
// token for 15 minutes.
const (
	tokenPrefix   = "k8s-aws-v1."
	tokenLifetime = 15 * time.Minute
)

// claims of a token. A real one is a signed request to STS; this one is signed
// by the stand-in.
type claims struct {
	Cluster string    `json:"cluster"`
	ARN     string    `json:"arn"`
	Expires time.Time `json:"expires"`
}

// callerARN is who calls: the one user of the account.
func (c *Cloud) callerARN(region string) string {
	return fmt.Sprintf("arn:%s:iam::%s:user/tombolo", partition(region), c.options.Account)
}

// GetToken makes a token for a cluster as `aws eks get-token` does: for the
// caller, without asking whether the cluster exists.
func (c *Cloud) GetToken(cluster string) (token string, expires time.Time, err error) {
	if cluster == "" {
		return "", time.Time{}, errors.New("get a token: the cluster's name is missing")
	}
	region := c.options.Region
	if r := c.clusterNamed(cluster); r != nil {
		region = r.Region
	}
	expires = c.now().Add(tokenLifetime).UTC()
	return c.sign(claims{Cluster: cluster, ARN: c.callerARN(region), Expires: expires}), expires, nil
}

func (c *Cloud) clusterNamed(name string) *record {
	for _, r := range c.snapshot(clusterType) {
		if r.Outputs.str("name") == name {
			return r
		}
	}
	return nil
}

func (c *Cloud) sign(t claims) string {
	payload, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings and a time always marshal
	}
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(append(payload, c.mac(payload)...))
}

func (c *Cloud) mac(payload []byte) []byte {
	h := hmac.New(sha256.New, c.secret)
	h.Write(payload)
	return h.Sum(nil)
}

// Authenticate tells who a token stands for in a cluster: its access entries
// give the user name and groups, and access policies add to the groups. The
// policy AmazonEKSClusterAdminPolicy is worth system:masters; any other policy
// is worth a group eks:access-policy:<name>, or with a namespace scope
// eks:access-policy:<name>:<namespace>, to which a role can be bound.
func (c *Cloud) Authenticate(cluster, token string) (username string, groups []string, err error) {
	t, err := c.verify(token)
	if err != nil {
		return "", nil, fmt.Errorf("authenticate with cluster %s: %w", cluster, err)
	}
	if t.Cluster != cluster {
		return "", nil, fmt.Errorf("authenticate with cluster %s: the token is for cluster %s", cluster, t.Cluster)
	}
	r := c.clusterNamed(cluster)
	if r == nil {
		return "", nil, fmt.Errorf("authenticate with cluster %s: No cluster found for name: %s", cluster, cluster)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := c.find(accessEntryType, r.Region, cluster+":"+t.ARN)
	if entry == nil {
		return "", nil, fmt.Errorf("authenticate with cluster %s: %s has no access entry", cluster, t.ARN)
	}
	groups = entry.Outputs.list("kubernetesGroups")
	for p := range c.each(accessPolicyType, r.Region) {
		if p.Inputs.str("clusterName") == cluster && p.Inputs.str("principalArn") == t.ARN {
			groups = append(groups, policyGroups(p.Inputs)...)
		}
	}
	slices.Sort(groups)
	return strings.ReplaceAll(entry.Outputs.str("userName"), "{{SessionName}}", "tombolo"), slices.Compact(groups), nil
}

func policyGroups(association props) []string {
	arn, scope := association.str("policyArn"), association.sub("accessScope")
	name := arn[strings.LastIndex(arn, "/")+1:]
	if scope.str("type") == "cluster" {
		if name == "AmazonEKSClusterAdminPolicy" {
			return []string{"system:masters"}
		}
		return []string{"eks:access-policy:" + name}
	}
	var groups []string
	for _, namespace := range scope.list("namespaces") {
		groups = append(groups, "eks:access-policy:"+name+":"+namespace)
	}
	return groups
}

func (c *Cloud) verify(token string) (claims, error) {
	var t claims
	encoded, ok := strings.CutPrefix(token, tokenPrefix)
	data, err := base64.RawURLEncoding.DecodeString(encoded)
	if !ok || err != nil || len(data) < sha256.Size {
		return t, errors.New("the token is not one of EKS's")
	}
	payload, mac := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if !hmac.Equal(mac, c.mac(payload)) {
		return t, errors.New("the token's signature is wrong")
	}
	if err := json.Unmarshal(payload, &t); err != nil {
		return t, fmt.Errorf("the token is damaged: %w", err)
	}
	if !c.now().Before(t.Expires) {
		return t, fmt.Errorf("the token expired at %s", t.Expires.Format(time.RFC3339))
	}
	return t, nil
}
