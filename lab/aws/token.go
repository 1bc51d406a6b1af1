package aws

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"tombolo/lab/aws/sigv4"
)

// A token for EKS is a presigned request to STS for the caller's identity. The
// cluster's name is in a header that is signed as well. EKS takes it until 15
// minutes after it was signed, whatever the URL says of itself; `aws eks
// get-token` claims a minute less. Source: the README of aws-iam-authenticator.
const (
	tokenPrefix    = "k8s-aws-v1."
	tokenLifetime  = 15 * time.Minute
	tokenClaims    = 14 * time.Minute
	tokenPresigned = time.Minute
	clusterHeader  = "X-K8s-Aws-Id"
	// longestToken that EKS reads, in bytes.
	longestToken = 4096
)

// tokenParameters are all that the URL of a token may have.
var tokenParameters = []string{
	"action", "version", "x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-expires",
	"x-amz-security-token", "x-amz-signature", "x-amz-signedheaders", "x-amz-user-agent",
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
	return c.token(c.userCredentials(), region, cluster), c.now().Add(tokenClaims).UTC(), nil
}

// token makes a token for a cluster of whoever has the credentials.
func (c *Cloud) token(by sigv4.Credentials, region, cluster string) string {
	r := &http.Request{
		Method: http.MethodGet, Host: stsHost(region), Header: http.Header{clusterHeader: {cluster}},
		URL: &url.URL{Scheme: "https", Host: stsHost(region), Path: "/", RawQuery: "Action=GetCallerIdentity&Version=" + stsVersion},
	}
	sigv4.Presign(r, by, region, "sts", c.now(), tokenPresigned)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(r.URL.String()))
}

func (c *Cloud) clusterNamed(name string) *record {
	for _, r := range c.snapshot(clusterType) {
		if r.Outputs.str("name") == name {
			return r
		}
	}
	return nil
}

// Authenticate tells who a token stands for in a cluster: its access entries
// give the user name and groups, and access policies add to the groups. The
// policy AmazonEKSClusterAdminPolicy is worth system:masters; any other policy
// is worth a group eks:access-policy:<name>, or with a namespace scope
// eks:access-policy:<name>:<namespace>, to which a role can be bound.
func (c *Cloud) Authenticate(cluster, token string) (username string, groups []string, err error) {
	username, groups, err = c.authenticate(cluster, token)
	if err != nil {
		return "", nil, fmt.Errorf("authenticate with cluster %s: %w", cluster, err)
	}
	return username, groups, nil
}

func (c *Cloud) authenticate(cluster, token string) (username string, groups []string, err error) {
	request, err := tokenRequest(cluster, token)
	if err != nil {
		return "", nil, err
	}
	r := c.clusterNamed(cluster)
	if r == nil {
		return "", nil, fmt.Errorf("No cluster found for name: %s", cluster) //nolint:staticcheck // EKS's own words
	}
	who, err := c.caller(request, nil)
	if err != nil {
		return "", nil, fmt.Errorf("the token's request to STS is refused: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := c.find(accessEntryType, r.Region, cluster+":"+who.principal)
	if entry == nil {
		return "", nil, fmt.Errorf("%s has no access entry", who.principal)
	}
	if who.role != nil && who.role.Created.After(entry.Created) {
		return "", nil, fmt.Errorf("the access entry is of another %s, which was deleted; delete the entry and make it again", who.principal)
	}
	groups = entry.Outputs.list("kubernetesGroups")
	for p := range c.each(accessPolicyType, r.Region) {
		if p.Inputs.str("clusterName") == cluster && p.Inputs.str("principalArn") == who.principal {
			groups = append(groups, policyGroups(p.Inputs)...)
		}
	}
	slices.Sort(groups)
	return c.userName(entry, who), slices.Compact(groups), nil
}

// tokenRequest is the request to STS that a token holds, as the API server of a
// cluster sends it on. STS would not take it for another cluster: the header is
// signed.
func tokenRequest(cluster, token string) (*http.Request, error) {
	encoded, ok := strings.CutPrefix(token, tokenPrefix)
	data, err := base64.RawURLEncoding.DecodeString(encoded)
	if !ok || err != nil || len(token) > longestToken {
		return nil, errors.New("the token is not one of EKS's")
	}
	u, err := url.Parse(string(data))
	if err != nil {
		return nil, errors.New("the token holds no URL")
	}
	if _, known := stsRegion(u.Host); !known || u.Scheme != "https" || u.Path != "/" {
		return nil, fmt.Errorf("the token is a request to %s://%s%s, not to STS", u.Scheme, u.Host, u.Path)
	}
	query := u.Query()
	for _, key := range sortedKeys(query) {
		if !slices.Contains(tokenParameters, strings.ToLower(key)) || len(query[key]) != 1 {
			return nil, fmt.Errorf("the token's request has a parameter %s that it must not have", key)
		}
	}
	if action := query.Get("Action"); action != "GetCallerIdentity" {
		return nil, fmt.Errorf("the token is a request for %q, not for GetCallerIdentity", action)
	}
	request := &http.Request{Method: http.MethodGet, Host: u.Host, URL: u, Header: http.Header{clusterHeader: {cluster}}}
	signature, err := sigv4.Parse(request)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the token's signature: %w", err)
	case !slices.Contains(signature.SignedHeaders, strings.ToLower(clusterHeader)):
		return nil, errors.New("the token names no cluster: the header x-k8s-aws-id is not signed")
	case signature.Expires > tokenLifetime:
		return nil, fmt.Errorf("the token says that it is valid for %v; EKS takes at most %v", signature.Expires, tokenLifetime)
	}
	return request, nil
}

// userName fills the placeholders of an access entry's user name. Source:
// https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html
func (c *Cloud) userName(entry *record, who caller) string {
	return strings.NewReplacer(
		"{{AccountID}}", c.options.Account, "{{SessionName}}", strings.ReplaceAll(who.session, "@", "-"), "{{SessionNameRaw}}", who.session,
	).Replace(entry.Outputs.str("userName"))
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
