// Package proxies reads from an environment which proxy requests go by.
package proxies

import (
	"net/url"

	"golang.org/x/net/http/httpproxy"
)

// Of reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY, or their names in small letters, as net/http
// does, but now: that package remembers what it read first.
func Of(env func(string) string) func(*url.URL) (*url.URL, error) {
	first := func(names ...string) string {
		for _, name := range names {
			if v := env(name); v != "" {
				return v
			}
		}
		return ""
	}
	c := httpproxy.Config{
		HTTPProxy: first("HTTP_PROXY", "http_proxy"), HTTPSProxy: first("HTTPS_PROXY", "https_proxy"), NoProxy: first("NO_PROXY", "no_proxy"),
	}
	return c.ProxyFunc()
}
