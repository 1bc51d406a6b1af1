package config

import "time"

// Today is the time by which a cluster file is judged: support of a version of Kubernetes
// ends on a day. It is asked each time that a file is loaded; only its day in UTC counts.
// The default is the time of the machine. A test sets it before it loads a file, and not
// while others load some.
var Today = time.Now

// today is the start of the day, in UTC.
func today() time.Time { return Today().UTC().Truncate(24 * time.Hour) }
