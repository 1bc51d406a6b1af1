// Package authenticator makes the tokens that EKS clusters take, and finds
// the user of a token, as the AWS IAM Authenticator does.
package authenticator

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/sigv4"
	"tombolo/lab/aws/sts"
	"tombolo/lab/standin"
)

// A token for EKS is a presigned request to STS for the caller's identity. The
// cluster's name is in a header that is signed as well. EKS takes it until 15
// minutes after it was signed, whatever the URL says of itself; `aws eks
// get-token` claims a minute less. Source: the README of aws-iam-authenticator.
const (
	TokenPrefix    = "k8s-aws-v1."
	tokenLifetime  = 15 * time.Minute
	tokenClaims    = 14 * time.Minute
	tokenPresigned = time.Minute
	ClusterHeader  = "X-K8s-Aws-Id"
	// longestToken that EKS reads, in bytes.
	longestToken = 4096
)

// tokenParameters are all that the URL of a token may have.
var tokenParameters = []string{
	"action", "version", "x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-expires",
	"x-amz-security-token", "x-amz-signature", "x-amz-signedheaders", "x-amz-user-agent",
}

// GetToken makes a token for a cluster as `aws eks get-token` does: for whoever has
// the credentials, without asking whether they are any good or the cluster exists.
func GetToken(c *standin.Cloud, by sigv4.Credentials, cluster string) (token string, expires time.Time, err error) {
	if cluster == "" {
		return "", time.Time{}, errors.New("get a token: the cluster's name is missing")
	}
	region := c.Region
	if r := eks.ClusterNamed(c, cluster); r != nil {
		region = r.Region
	}
	query := url.Values{"Action": {"GetCallerIdentity"}, "Version": {sts.Version}, "X-Amz-Expires": {strconv.Itoa(int(tokenPresigned.Seconds()))}}
	r := &http.Request{
		Method: http.MethodGet, Host: sts.Host(region), Header: http.Header{ClusterHeader: {cluster}},
		URL: &url.URL{Scheme: "https", Host: sts.Host(region), Path: "/", RawQuery: query.Encode()},
	}
	holder := aws.Credentials{AccessKeyID: by.AccessKeyID, SecretAccessKey: by.SecretAccessKey, SessionToken: by.SessionToken}
	empty := sha256.Sum256(nil)
	signed, _, err := v4.NewSigner().PresignHTTP(context.Background(), holder, r, hex.EncodeToString(empty[:]), "sts", region, c.Now())
	if err != nil {
		return "", time.Time{}, fmt.Errorf("sign a token: %w", err)
	}
	return TokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(signed)), c.Now().Add(tokenClaims).UTC(), nil
}

// Authenticate finds the user of a token in a cluster: its access entries
// give the user name and groups, and access policies add to the groups. The
// policy AmazonEKSClusterAdminPolicy is worth system:masters; any other policy
// is worth a group eks:access-policy:<name>, or with a namespace scope
// eks:access-policy:<name>:<namespace>, to which a role can be bound.
func Authenticate(c *standin.Cloud, cluster, token string) (username string, groups []string, err error) {
	username, groups, err = authenticate(c, cluster, token)
	if err != nil {
		return "", nil, fmt.Errorf("authenticate with cluster %s: %w", cluster, err)
	}
	return username, groups, nil
}

func authenticate(c *standin.Cloud, cluster, token string) (username string, groups []string, err error) {
	request, err := TokenRequest(cluster, token)
	if err != nil {
		return "", nil, err
	}
	r := eks.ClusterNamed(c, cluster)
	if r == nil {
		return "", nil, fmt.Errorf("No cluster found for name: %s", cluster) //nolint:staticcheck // EKS's own words
	}
	who, err := sts.Identify(c, request, nil)
	if err != nil {
		return "", nil, fmt.Errorf("the token's request to STS is refused: %w", err)
	}
	defer c.Lock()()
	entry := c.Find(eks.AccessEntryType, r.Region, cluster+":"+who.Principal)
	if entry == nil {
		return "", nil, fmt.Errorf("%s has no access entry", who.Principal)
	}
	if who.Role != nil && who.Role.Created.After(entry.Created) {
		return "", nil, fmt.Errorf("the access entry is of another %s, which was deleted; delete the entry and make it again", who.Principal)
	}
	groups = entry.Outputs.List("kubernetesGroups")
	for p := range c.Each(eks.AccessPolicyType, r.Region) {
		if p.Inputs.Str("clusterName") == cluster && p.Inputs.Str("principalArn") == who.Principal {
			groups = append(groups, policyGroups(p.Inputs)...)
		}
	}
	slices.Sort(groups)
	return userName(c, entry, who), slices.Compact(groups), nil
}

// TokenRequest is the request to STS that a token holds, as the API server of a
// cluster sends it on. STS would not take it for another cluster: the header is
// signed.
func TokenRequest(cluster, token string) (*http.Request, error) {
	encoded, ok := strings.CutPrefix(token, TokenPrefix)
	data, err := base64.RawURLEncoding.DecodeString(encoded)
	if !ok || err != nil || len(token) > longestToken {
		return nil, errors.New("the token is not one of EKS's")
	}
	u, err := url.Parse(string(data))
	if err != nil {
		return nil, errors.New("the token holds no URL")
	}
	if _, known := sts.Region(u.Host); !known || u.Scheme != "https" || u.Path != "/" {
		return nil, fmt.Errorf("the token is a request to %s://%s%s, not to STS", u.Scheme, u.Host, u.Path)
	}
	query := u.Query()
	for _, key := range standin.SortedKeys(query) {
		if !slices.Contains(tokenParameters, strings.ToLower(key)) || len(query[key]) != 1 {
			return nil, fmt.Errorf("the token's request has a parameter %s that it must not have", key)
		}
	}
	if action := query.Get("Action"); action != "GetCallerIdentity" {
		return nil, fmt.Errorf("the token is a request for %q, not for GetCallerIdentity", action)
	}
	request := &http.Request{Method: http.MethodGet, Host: u.Host, URL: u, Header: http.Header{ClusterHeader: {cluster}}}
	signature, err := sigv4.Parse(request)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the token's signature: %w", err)
	case !slices.Contains(signature.SignedHeaders, strings.ToLower(ClusterHeader)):
		return nil, errors.New("the token names no cluster: the header x-k8s-aws-id is not signed")
	case signature.Expires > tokenLifetime:
		return nil, fmt.Errorf("the token says that it is valid for %v; EKS takes at most %v", signature.Expires, tokenLifetime)
	}
	return request, nil
}

// userName fills the placeholders of an access entry's user name. Source:
// https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html
func userName(c *standin.Cloud, entry *standin.Record, who sts.Caller) string {
	return strings.NewReplacer(
		"{{AccountID}}", c.Account, "{{SessionName}}", strings.ReplaceAll(who.Session, "@", "-"), "{{SessionNameRaw}}", who.Session,
	).Replace(entry.Outputs.Str("userName"))
}

func policyGroups(association standin.Props) []string {
	arn, scope := association.Str("policyArn"), association.Sub("accessScope")
	name := arn[strings.LastIndex(arn, "/")+1:]
	if scope.Str("type") == "cluster" {
		if name == "AmazonEKSClusterAdminPolicy" {
			return []string{"system:masters"}
		}
		return []string{"eks:access-policy:" + name}
	}
	var groups []string
	for _, namespace := range scope.List("namespaces") {
		groups = append(groups, "eks:access-policy:"+name+":"+namespace)
	}
	return groups
}
