package near

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"region", "vpc_id", "cluster_name", "chart_repository"}
	for word, want := range map[string]string{
		"regoin": "region", "Region": "region", "clustername": "cluster_name", "chart_repo": "chart_repository",
		"vpcid": "vpc_id", "zone": "", "region": "", "cha": "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%s is near %q, want %q", word, got, want)
		}
	}
}
