// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command image is the program of karmada-compute.test/image:v1, the image that a local federation's nodes have. It
// serves HTTP and misbehaves on request. It is in the image as /program; these are the args of a container:
//
//	--port=8080         serves there: see below
//	--exit=0s --code=1  exits that long after it began to serve, as a program that crashes (0s: it does not)
//	--drain=0s          continues to serve for that long after SIGTERM, with readiness failing, and then exits with code 0
//	--allocate=0        allocates that many MiB when it begins to serve
//	--log=0s            prints a numbered line at that interval
//
// It prints a line when it starts, serves, gets a signal and exits. What it serves:
//
//	GET  /             the name of its host, and with that which Instance answers
//	GET  /ready        200, or 503 while that fails; for readiness probes
//	POST /ready        with ?fail=true or ?fail=false, to have that fail or not
//	GET  /env          the environment, a line per variable
//	GET  /file?path=   a file
//	GET  /get?url=     what another server answers, within 2 s
//	POST /exit?code=   exits
//
// For exec, its first argument is a subcommand: "env" prints the environment; "cat" prints its input; "terminal" prints
// whether its input is a terminal, and its size; "terminal 80x24" first waits until it has that size; "run CODE" exits
// with that code. "pause" waits, as the image of a sandbox does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"
)

func main() {
	log.SetOutput(os.Stdout)
	log.SetFlags(log.Ltime | log.Lmicroseconds)
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		code, err := command(os.Args[1], append(os.Args[2:], "")[0])
		if err != nil {
			log.Print(err)
		}
		os.Exit(code)
	}
	p := &program{}
	flag.IntVar(&p.port, "port", 8080, "port to serve at")
	flag.DurationVar(&p.exit, "exit", 0, "time after which it exits")
	flag.IntVar(&p.code, "code", 1, "code with which it exits then")
	flag.DurationVar(&p.drain, "drain", 0, "time after SIGTERM in which it serves")
	flag.IntVar(&p.allocate, "allocate", 0, "MiB to allocate")
	flag.DurationVar(&p.log, "log", 0, "interval of lines")
	flag.Parse()
	p.run()
}

// command runs a subcommand and returns the exit code.
func command(name, argument string) (int, error) {
	switch name {
	case "pause":
		wait(syscall.SIGINT, syscall.SIGTERM)
		return 0, nil
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
		return 0, nil
	case "cat":
		_, err := io.Copy(os.Stdout, os.Stdin)
		return 0, err
	case "terminal":
		return terminal(argument)
	case "run":
		return strconv.Atoi(argument)
	}
	return 2, fmt.Errorf("unknown subcommand %q", name)
}

// terminal prints whether the input is a terminal, and its size. It waits until the terminal has a wanted size: clients
// report the size after the program has started.
func terminal(wanted string) (int, error) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	timeout := time.After(10 * time.Second)
	for {
		columns, rows, err := term.GetSize(int(os.Stdin.Fd()))
		size := fmt.Sprintf("%dx%d", columns, rows)
		if wanted == "" || size == wanted {
			fmt.Printf("a terminal: %t, %s\n", err == nil, size)
			return 0, nil
		}
		select {
		case <-changed:
		case <-timeout:
			return 1, errors.Join(fmt.Errorf("the terminal has the size %s", size), err)
		}
	}
}

// get returns what a server answers.
func get(url string) (text string, err error) {
	// A connection that is kept would remain when a policy forbids new ones.
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url) //nolint:noctx,gosec // the client has a timeout, and it asks whom a test names
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(response.Body)
	return string(content), errors.Join(err, response.Body.Close())
}

// program serves and misbehaves.
type program struct {
	port, code       int
	allocate         int
	exit, drain, log time.Duration
	unready          atomic.Bool
	// allocated keeps memory from being collected.
	allocated [][]byte
}

func (p *program) run() {
	log.Printf("starts with pid %d", os.Getpid())
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	if p.log > 0 {
		go lines(p.log)
	}
	p.grow(p.allocate)
	server := &http.Server{Addr: fmt.Sprintf(":%d", p.port), Handler: p.handler(), ReadHeaderTimeout: time.Minute}
	go func() {
		if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			log.Fatal(err)
		}
	}()
	log.Printf("serves at %s", server.Addr)
	var exit <-chan time.Time
	if p.exit > 0 {
		exit = time.After(p.exit)
	}
	select {
	case <-exit:
		log.Printf("exits with code %d", p.code)
		os.Exit(p.code)
	case sent := <-terminated:
		log.Printf("ends in %s after signal %s", p.drain, sent)
		p.unready.Store(true)
		time.Sleep(p.drain)
		os.Exit(0)
	}
}

func (p *program) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		name, err := os.Hostname()
		answer(w, name, err)
	})
	mux.HandleFunc("GET /env", func(w http.ResponseWriter, _ *http.Request) { answer(w, strings.Join(os.Environ(), "\n"), nil) })
	mux.HandleFunc("GET /file", func(w http.ResponseWriter, r *http.Request) {
		content, err := os.ReadFile(r.FormValue("path")) //nolint:gosec // tests read files of the container
		answer(w, string(content), err)
	})
	mux.HandleFunc("GET /get", func(w http.ResponseWriter, r *http.Request) {
		text, err := get(r.FormValue("url"))
		answer(w, text, err)
	})
	mux.HandleFunc("POST /exit", func(_ http.ResponseWriter, r *http.Request) {
		code, err := strconv.Atoi(r.FormValue("code"))
		log.Printf("exits with code %d on request (%v)", code, err)
		os.Exit(code)
	})
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		if p.unready.Load() {
			http.Error(w, "no", http.StatusServiceUnavailable)
			return
		}
		answer(w, "yes", nil)
	})
	mux.HandleFunc("POST /ready", func(w http.ResponseWriter, r *http.Request) {
		fail, err := strconv.ParseBool(r.FormValue("fail"))
		p.unready.Store(fail)
		answer(w, fmt.Sprintf("fails: %t", fail), err)
	})
	return mux
}

func answer(w http.ResponseWriter, text string, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = fmt.Fprintln(w, text) //nolint:gosec // no browser reads it; the client may be gone
}

// grow allocates memory and writes to it, so that it is used.
func (p *program) grow(mib int) {
	for range mib {
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = 1
		}
		p.allocated = append(p.allocated, block)
	}
}

func lines(interval time.Duration) {
	for i := 1; ; i++ {
		log.Printf("line %d", i)
		time.Sleep(interval)
	}
}

func wait(signals ...os.Signal) {
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	<-ctx.Done()
}
