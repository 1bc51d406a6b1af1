package addon

import "strings"

// This file has pods that call AWS's APIs go by the cluster's proxy. What they reach directly,
// such as an endpoint in the network, is in the cluster's NO_PROXY.

// proxyVariables are the environment of a program behind the proxy; nil for none.
func (f Facts) proxyVariables() map[string]any {
	e := f.Egress
	if e.Proxy == "" {
		return nil
	}
	return map[string]any{"HTTP_PROXY": e.Proxy, "HTTPS_PROXY": e.Proxy, "NO_PROXY": strings.Join(e.NoProxy, ",")}
}

// proxyEnv is that environment as the env of a container; nil for none.
func (f Facts) proxyEnv() []any {
	var out []any
	variables := f.proxyVariables()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
		if value, there := variables[name]; there {
			out = append(out, map[string]any{"name": name, "value": value})
		}
	}
	return out
}

// with adds a value to those of a chart, when there is one.
func with[T map[string]any | []any](values map[string]any, key string, value T) map[string]any {
	if len(value) > 0 {
		values[key] = value
	}
	return values
}
