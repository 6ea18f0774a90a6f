// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// pageAddress is the address that `kubectl compute ui` prints.
var pageAddress = regexp.MustCompile(`http://127\.0\.0\.1:\S+/`)

// followOnPage reads the log of an Instance as the page of the started command does.
func (s Steps) followOnPage(ctx context.Context, instance string, lines int) error {
	return world.Eventually(ctx, func(ctx context.Context) error {
		address := pageAddress.FindString(s.state().ran.out.String())
		if address == "" {
			return errors.Join(errors.New("the command prints no address"), s.state().ran.printed("http://"))
		}
		ctx, leave := context.WithCancel(ctx)
		defer leave()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"log?instance="+url.QueryEscape(instance), http.NoBody)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }() // it has no end
		return readLog(response.Body, lines)
	})
}

// readLog reads a number of lines of a log on the page.
func readLog(body io.Reader, lines int) error {
	var text strings.Builder
	for parts := json.NewDecoder(bufio.NewReader(body)); lines > 0; {
		var part struct{ Line, End *string }
		if err := parts.Decode(&part); err != nil {
			return fmt.Errorf("after %q: %w", text.String(), err)
		}
		if part.End != nil {
			return fmt.Errorf("the log ends after %q: %s", text.String(), *part.End)
		}
		if part.Line != nil {
			text.WriteString(*part.Line + "\n")
			lines--
		}
	}
	return consecutive(text.String())
}
