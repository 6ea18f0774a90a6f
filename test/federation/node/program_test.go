// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// programVariable turns the test binary into a program of a container.
const programVariable = "NODE_TEST_PROGRAM"

// runProgram executes a container's program in tests. It returns the exit code.
func runProgram(name string) int {
	switch name {
	case "serve":
		return serve()
	case "node":
		return serveNode()
	}
	return 99
}

// serve serves HTTP: it returns the container's environment, and fails its probes on request.
func serve() int {
	listen := flag.String("listen", "", "address")
	flag.Parse()
	var unready, unhealthy atomic.Bool
	mux := http.NewServeMux()
	health := func(broken *atomic.Bool) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if broken.Load() {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
	}
	mux.HandleFunc("/readyz", health(&unready))
	mux.HandleFunc("/livez", health(&unhealthy))
	mux.HandleFunc("/unready", func(http.ResponseWriter, *http.Request) { unready.Store(true) })
	mux.HandleFunc("/unhealthy", func(http.ResponseWriter, *http.Request) { unhealthy.Store(true) })
	mux.HandleFunc("/env", func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, os.Getenv(r.FormValue("name"))) })
	mux.HandleFunc("/args", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, flag.Args()) })
	mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, os.ExpandEnv(r.FormValue("path"))) })
	mux.HandleFunc("/exit", func(_ http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.FormValue("code"))
		os.Exit(code)
	})
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	failed := make(chan error, 1)
	go func() {
		slog.Info("serving", "address", *listen)
		failed <- (&http.Server{Addr: *listen, Handler: mux, ReadHeaderTimeout: time.Minute}).ListenAndServe()
	}()
	for {
		select {
		case err := <-failed:
			slog.Error("cannot serve", "error", err)
			return 1
		case <-terminate:
			slog.Info("SIGTERM")
			if os.Getenv("IGNORE_SIGTERM") == "" {
				return 0
			}
		}
	}
}

// serveNode runs a node in a separate process, which a test kills.
func serveNode() int {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("NODE_KUBECONFIG"))
	if err == nil {
		name := os.Getenv("NODE_NAME")
		err = Run(context.Background(), Options{
			Name: name, Config: config, Folder: os.Getenv("NODE_FOLDER"), Images: map[string]string{"program": os.Args[0]},
		})
	}
	fmt.Println(err)
	return 1
}

// adminKubeconfig writes a kubeconfig of the tests' kube-apiserver.
func adminKubeconfig(f *fixture) (string, error) {
	config := f.options.Config
	file := clientcmdapi.NewConfig()
	file.Clusters["test"] = &clientcmdapi.Cluster{
		Server: "https://" + strings.TrimPrefix(config.Host, "https://"), CertificateAuthorityData: config.CAData,
	}
	file.AuthInfos["test"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
	}
	file.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	file.CurrentContext = "test"
	path := filepath.Join(f.TempDir(), "kubeconfig")
	return path, clientcmd.WriteToFile(*file, path)
}
