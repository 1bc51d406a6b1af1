package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-uuid"
	"github.com/hashicorp/vault/sdk/logical"
)

// token is who has logged in.
type token struct {
	accessor, display, path string
	policies                []string
	meta                    map[string]string
	issued, expires         time.Time // expires is zero for the root token
}

// ServeHTTP answers a request of the API.
func (c *core) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ofAPI := strings.CutPrefix(r.URL.Path, "/v1/")
	if !ofAPI {
		logical.RespondError(w, http.StatusNotFound, nil)
		return
	}
	if path == "sys/health" { // https://developer.hashicorp.com/vault/api-docs/system/health
		answer(w, http.StatusOK, map[string]any{"initialized": true, "sealed": false, "standby": false, "server_time_utc": time.Now().Unix()})
		return
	}
	req, err := requestOf(r, path)
	if err != nil {
		logical.RespondError(w, http.StatusBadRequest, err)
		return
	}
	resp, err := c.handle(r.Context(), req, r.Header.Get("X-Vault-Namespace"))
	if status, failed := logical.RespondErrorCommon(req, resp, err); status != 0 || failed != nil {
		logical.RespondError(w, status, failed)
		return
	}
	c.respond(w, req, resp)
}

// requestOf is what is asked, by the methods of https://developer.hashicorp.com/vault/api-docs#api-operations
func requestOf(r *http.Request, path string) (*logical.Request, error) {
	id, err := uuid.GenerateUUID()
	if err != nil {
		return nil, err
	}
	req := &logical.Request{ID: id, Path: path, Data: map[string]any{}, Connection: &logical.Connection{RemoteAddr: "127.0.0.1"}, ClientToken: r.Header.Get("X-Vault-Token")}
	if bearer, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); is && req.ClientToken == "" {
		req.ClientToken = bearer
	}
	switch r.Method {
	case http.MethodGet:
		req.Operation = logical.ReadOperation
		if list, _ := strconv.ParseBool(r.URL.Query().Get("list")); list {
			req.Operation = logical.ListOperation
		}
	case "LIST":
		req.Operation = logical.ListOperation
	case http.MethodPost, http.MethodPut:
		req.Operation = logical.UpdateOperation
	case http.MethodPatch:
		req.Operation = logical.PatchOperation
	case http.MethodDelete:
		req.Operation = logical.DeleteOperation
	default:
		return nil, logical.CodedError(http.StatusMethodNotAllowed, "")
	}
	if req.Operation == logical.ListOperation && !strings.HasSuffix(req.Path, "/") {
		req.Path += "/"
	}
	if req.Operation == logical.UpdateOperation || req.Operation == logical.PatchOperation {
		body := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<20))
		body.UseNumber()
		if err := body.Decode(&req.Data); err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("error parsing JSON: %w", err)
		}
		return req, nil
	}
	for key, values := range r.URL.Query() {
		if key != "list" {
			req.Data[key] = values[0]
		}
	}
	return req, nil
}

// handle admits a request, and has it answered by whom its path is.
func (c *core) handle(ctx context.Context, req *logical.Request, namespace string) (*logical.Response, error) {
	if namespace != "" {
		return nil, logical.CodedError(http.StatusForbidden, "namespaces feature not enabled")
	}
	where, rest, m := c.at(req.Path)
	full := req.Path
	if m != nil {
		req.MountPoint, req.MountType, req.MountAccessor, req.Path, req.Storage = where, m.Type, m.Accessor, rest, m.storage
		if req.Operation == logical.UpdateOperation {
			if has, exists, err := m.backend.HandleExistenceCheck(ctx, req); err == nil && has && !exists {
				req.Operation = logical.CreateOperation
			}
		}
	}
	if m != nil && m.backend.SpecialPaths() != nil && slices.Contains(m.backend.SpecialPaths().Unauthenticated, rest) {
		req.ClientToken, req.Unauthenticated = "", true
		return m.backend.HandleRequest(ctx, req)
	}
	who := c.holder(req.ClientToken)
	if who == nil || !c.may(who.policies, req.Operation, full) {
		return nil, logical.ErrPermissionDenied
	}
	if m != nil {
		req.ClientToken, req.DisplayName = "", who.display
		return m.backend.HandleRequest(ctx, req)
	}
	return c.own(ctx, req, who)
}

// holder is who has a token; nil for nobody.
func (c *core) holder(text string) *token {
	if subtle.ConstantTimeCompare([]byte(text), []byte(c.root)) == 1 {
		return &token{display: "root", path: "auth/token/root", policies: []string{rootPolicy}}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tokens[text]
	if t != nil && time.Now().After(t.expires) {
		delete(c.tokens, text)
		return nil
	}
	return t
}

// own answers for the paths that are no mount's.
func (c *core) own(ctx context.Context, req *logical.Request, who *token) (*logical.Response, error) {
	read, write, remove := req.Operation == logical.ReadOperation, req.Operation == logical.UpdateOperation, req.Operation == logical.DeleteOperation
	under := func(prefix string) string { name, _ := strings.CutPrefix(req.Path, prefix); return name }
	text := func(key string) string { value, _ := req.Data[key].(string); return value }
	switch {
	case req.Path == "auth/token/lookup-self" && read:
		return &logical.Response{Data: c.lookup(req.ClientToken, who)}, nil
	case req.Path == "auth/token/revoke-self" && write:
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.tokens, req.ClientToken)
		return nil, nil
	case (req.Path == "sys/auth" || req.Path == "sys/mounts") && read:
		return &logical.Response{Data: c.listed(req.Path == "sys/auth")}, nil
	case strings.HasPrefix(req.Path, "sys/auth/") && write:
		return nil, c.enable(ctx, authPrefix+strings.Trim(under("sys/auth/"), "/")+"/", text("type"), text("description"), nil)
	case strings.HasPrefix(req.Path, "sys/auth/") && remove:
		return nil, c.disable(ctx, authPrefix+strings.Trim(under("sys/auth/"), "/")+"/")
	case strings.HasPrefix(req.Path, "sys/mounts/") && write:
		options := map[string]string{}
		given, _ := req.Data["options"].(map[string]any)
		for key, value := range given {
			options[key] = fmt.Sprint(value)
		}
		return nil, c.enable(ctx, strings.Trim(under("sys/mounts/"), "/")+"/", text("type"), text("description"), options)
	case strings.HasPrefix(req.Path, "sys/mounts/") && remove:
		return nil, c.disable(ctx, strings.Trim(under("sys/mounts/"), "/")+"/")
	case strings.HasPrefix(req.Path, "sys/internal/ui/mounts/") && read: // by which clients learn the version of an engine
		where, _, m := c.at(strings.Trim(under("sys/internal/ui/mounts/"), "/") + "/")
		if m == nil {
			return nil, logical.ErrPermissionDenied
		}
		return &logical.Response{Data: map[string]any{"path": where, "type": m.Type, "options": m.Options, "uuid": m.UUID, "accessor": m.Accessor}}, nil
	case strings.HasPrefix(req.Path, "sys/policies/acl/") && write:
		return nil, c.setPolicy(ctx, under("sys/policies/acl/"), text("policy"))
	case strings.HasPrefix(req.Path, "sys/policies/acl/") && read:
		c.mu.RLock()
		defer c.mu.RUnlock()
		name := under("sys/policies/acl/")
		if policy, there := c.policies[name]; there {
			return &logical.Response{Data: map[string]any{"name": name, "policy": policy}}, nil
		}
		return nil, nil
	}
	return logical.ErrorResponse("no handler for route %q. route entry not found.", req.Path), logical.ErrUnsupportedPath
}

// lookup describes a token: https://developer.hashicorp.com/vault/api-docs/auth/token#lookup-a-token-self
func (c *core) lookup(id string, t *token) map[string]any {
	data := map[string]any{
		"id": id, "accessor": t.accessor, "display_name": t.display, "path": t.path, "policies": t.policies, "meta": t.meta, "type": "service",
		"orphan": true, "num_uses": 0, "renewable": false, "creation_time": t.issued.Unix(), "ttl": 0, "expire_time": nil,
	}
	if !t.expires.IsZero() {
		data["ttl"], data["expire_time"] = int(time.Until(t.expires).Seconds()), t.expires.Format(time.RFC3339)
	}
	return data
}

// login makes a token of what an auth method has found out.
func (c *core) login(req *logical.Request, auth *logical.Auth) {
	ttl := auth.TTL
	if ttl == 0 {
		ttl = defaultLease
	}
	for _, bound := range []time.Duration{auth.MaxTTL, auth.ExplicitMaxTTL, longestLease} {
		if bound > 0 {
			ttl = min(ttl, bound)
		}
	}
	policies := slices.Clone(auth.Policies)
	if !auth.NoDefaultPolicy {
		policies = append(policies, defaultPolicy)
	}
	slices.Sort(policies)
	auth.Policies = slices.Compact(policies)
	auth.TokenPolicies, auth.TTL, auth.Renewable = auth.Policies, ttl, false
	auth.ClientToken, auth.Accessor, auth.TokenType = "hvs."+rand.Text(), rand.Text(), logical.TokenTypeService
	t := &token{
		accessor: auth.Accessor, display: strings.ReplaceAll(strings.Trim(strings.TrimPrefix(req.MountPoint, authPrefix), "/"), "/", "-") + "-" + auth.DisplayName,
		path: req.MountPoint + req.Path, policies: auth.Policies, meta: auth.Metadata, issued: time.Now(), expires: time.Now().Add(ttl),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens[auth.ClientToken] = t
}

// respond writes an answer in Vault's form.
func (c *core) respond(w http.ResponseWriter, req *logical.Request, resp *logical.Response) {
	if resp == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if body, raw := resp.Data[logical.HTTPRawBody]; raw {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(resp.Data[logical.HTTPStatusCode].(int))
		_, _ = io.WriteString(w, body.(string)) // to somebody who may be gone
		return
	}
	if resp.Auth != nil {
		c.login(req, resp.Auth)
	}
	said := logical.LogicalResponseToHTTPResponse(resp)
	said.RequestID = req.ID
	answer(w, http.StatusOK, said)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // to somebody who may be gone
}
