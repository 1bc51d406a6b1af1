package lab

import (
	"fmt"
	"os"
	"path/filepath"

	"tombolo/lab/component"
	"tombolo/lab/tools"
)

// attached are the plugins that engines find running, as Pulumi's variable has them. Engines
// start the EKS component themselves where a network is between: it then has their environment.
func (l *Lab) attached(at servicePorts, network Network) string {
	all := fmt.Sprintf("aws:%d,azure-native:%d", at.provider, at.azure)
	if network == OpenNetwork && l.built().EKS() == nil {
		all += fmt.Sprintf(",eks:%d", at.eks)
	}
	return all
}

// newEKS is the component with its processes.
func (d *daemon) newEKS() *component.Pool {
	p, list := d.lab.paths(), string(filepath.ListSeparator)
	return component.New(component.Options{
		Name: "eks", Logs: p.logs(), PIDs: p.run(), Log: d.log,
		Env: []string{"PATH=" + p.bin() + list + p.tools() + list + os.Getenv("PATH"), "HOME=" + p.home()},
		Plugin: func() (string, error) {
			found, err := filepath.Glob(filepath.Join(p.plugins(), tools.EKSProvider+"-v*", "pulumi-"+tools.EKSProvider))
			if err != nil || len(found) != 1 {
				return "", fmt.Errorf("find the EKS plugin: %d programs in %s, and it needs one", len(found), p.plugins())
			}
			return found[0], nil
		},
	})
}
