package lab

import (
	"bufio"
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"tombolo/lab/process"
)

// This file keeps other users of the machine out of the daemon's ports. What speaks
// HTTP has the lab's token. Pulumi's engine cannot be told one for the provider's port:
// there the kernel says whose process is at the other end.

// tokenUser goes with the lab's token where a user's name is needed.
const tokenUser = "lab"

// ownListener accepts connections of this user's processes, and tells others why not.
type ownListener struct {
	net.Listener
	log *slog.Logger
	// user of a connection; false when the system does not tell.
	user func(net.Conn) (uint64, bool)
}

func listenForOwn(address string, log *slog.Logger) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return ownListener{l, log, process.PeerUser}, nil
}

// Accept returns the next connection of this user.
func (l ownListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		reason := l.stranger(conn)
		if reason == "" {
			return conn, nil
		}
		l.log.Warn("refused a connection", "from", conn.RemoteAddr(), "reason", reason)
		go refuse(conn, reason)
	}
}

// refuse answers the first request of a connection, and closes it. A client takes an
// answer that comes before its request for a fault of the server's.
func refuse(conn net.Conn, reason string) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second)) // there is nobody to tell of errors
	_, _ = http.ReadRequest(bufio.NewReader(io.LimitReader(conn, http.DefaultMaxHeaderBytes)))
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n", len(reason)+1, reason)
}

// stranger says why a connection is refused; "" for one of this user. Only Linux tells
// whose one is.
func (l ownListener) stranger(conn net.Conn) string {
	uid, known := l.user(conn)
	switch {
	case known && uid == uint64(os.Getuid()), !known && runtime.GOOS != "linux":
		return ""
	case !known:
		return "the lab cannot tell whose connection this is"
	}
	return fmt.Sprintf("this lab belongs to user %d, and you are user %d", os.Getuid(), uid)
}

// withBearer lets requests with the lab's token through.
func withBearer(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !equal(given, token) {
			http.Error(w, "this is for the lab's API servers: the request has no token of the lab", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// withProxyToken lets requests to a proxy through that name the lab's user and token.
// Others get the answer that makes a client send them, as git does.
func withProxyToken(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := &http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
		user, given, _ := asked.BasicAuth()
		if user != tokenUser || !equal(given, token) {
			w.Header().Set("Proxy-Authenticate", `Basic realm="lab"`)
			w.WriteHeader(http.StatusProxyAuthRequired)
			_, _ = io.WriteString(w, "the lab's proxy wants the lab's token: run `eval \"$(tombolo lab env)\"`\n") // the client went away
			return
		}
		r.Header.Del("Proxy-Authorization")
		next.ServeHTTP(w, r)
	})
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
