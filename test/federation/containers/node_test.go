// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSubnets verifies that nodes do not share addresses, and that a node's Pods are not on its link.
func TestSubnets(t *testing.T) {
	seen := map[netip.Prefix]string{}
	for _, link := range []string{LinkPrefix + "0", LinkPrefix + "1", LinkPrefix + "255"} {
		subnet, err := SubnetOf(link)
		if err != nil {
			t.Fatal(err)
		}
		if subnet.Machine.Masked() != subnet.Node.Masked() || subnet.Pods.Overlaps(subnet.Node) || !subnet.Pods.Addr().IsPrivate() {
			t.Errorf("%s has %v", link, subnet)
		}
		if other := seen[subnet.Pods]; other != "" {
			t.Errorf("%s and %s have the Pods %s", link, other, subnet.Pods)
		}
		seen[subnet.Pods] = link
	}
	for _, link := range []string{LinkPrefix + "256", "eth0", LinkPrefix} {
		if _, err := SubnetOf(link); err == nil {
			t.Errorf("%s is the link of a node", link)
		}
	}
}

// TestImages reads an archive: both images have the program, and each its arguments.
func TestImages(t *testing.T) {
	binary, path := filepath.Join(t.TempDir(), "binary"), filepath.Join(t.TempDir(), "images", "images.tar")
	if err := os.WriteFile(binary, []byte("a program"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteImages(path, binary, map[string][]string{"example.test/app:1": nil, "example.test/pause:1": {"pause"}}); err != nil {
		t.Fatal(err)
	}
	files := readArchive(t, path)
	blob := func(digest string, into any) []byte {
		content := files["blobs/sha256/"+strings.TrimPrefix(digest, "sha256:")]
		if into != nil {
			if err := json.Unmarshal(content, into); err != nil {
				t.Fatalf("%s: %v", digest, err)
			}
		}
		return content
	}
	var index struct{ Manifests []descriptor }
	if err := json.Unmarshal(files["index.json"], &index); err != nil || len(index.Manifests) != 2 {
		t.Fatalf("the index is %s: %v", files["index.json"], err)
	}
	for i, args := range []string{"", "pause"} {
		var manifest struct {
			Config descriptor
			Layers []descriptor
		}
		var config struct {
			Config struct{ Entrypoint, Cmd []string }
			Rootfs struct {
				DiffIDs []string `json:"diff_ids"`
			}
		}
		blob(index.Manifests[i].Digest, &manifest)
		blob(manifest.Config.Digest, &config)
		if strings.Join(config.Config.Cmd, " ") != args || config.Rootfs.DiffIDs[0] != manifest.Layers[0].Digest {
			t.Errorf("image %v has %+v", index.Manifests[i].Annotations, config)
		}
		if !strings.Contains(string(blob(manifest.Layers[0].Digest, nil)), "a program") {
			t.Error("an image lacks the program")
		}
	}
}

func readArchive(t *testing.T, path string) map[string][]byte {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	files := map[string][]byte{}
	for from := tar.NewReader(file); ; {
		header, err := from.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[header.Name], err = io.ReadAll(from); err != nil {
			t.Fatal(err)
		}
	}
}

// TestConfiguration verifies what the configuration of a node takes from it.
func TestConfiguration(t *testing.T) {
	n := &Node{
		Name: "a", Folder: t.TempDir(), PauseImage: "example.test/pause:1",
		Binaries: map[string]string{"runc": "/bin/of/runc", "bridge": "/bin/of/bridge"},
	}
	subnet, err := SubnetOf(LinkPrefix + "7")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.writeConfiguration(subnet); err != nil {
		t.Fatal(err)
	}
	for file, wanted := range map[string][]string{
		"containerd.toml":     {`BinaryName = "/bin/of/runc"`, `bin_dirs = ["/bin/of"]`, `sandbox = "example.test/pause:1"`},
		"cni/bridge.conflist": {`"subnet": "10.213.7.128/25"`},
		"kubelet.yaml":        {"address: 10.213.7.2\n", "cgroupRoot: " + n.Cgroup() + "\n"},
	} {
		content, err := os.ReadFile(n.path(file))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range wanted {
			if !strings.Contains(string(content), text) {
				t.Errorf("%s lacks %s:\n%s", file, text, content)
			}
		}
	}
	if other := (Node{Folder: n.Folder + "-other"}); other.Cgroup() == n.Cgroup() {
		t.Error("two nodes have the same cgroup")
	}
}
