// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// memoryPage has a row for each memory of the product.
const memoryPage = "docs/contributing/memory.md"

// product are the folders of what runs.
var product = []string{
	"addon", "cell", "cli", "cmd", "hub", "internal", "interpreter", "milo", "namespaces", "policies", "webhook",
}

// guards are the types by which a struct or a variable shows that it is kept and shared, by import path. Of a package of LRU caches it
// is every type.
var guards = map[string][]string{
	"sync":                               {"Mutex", "RWMutex", "Map"},
	"k8s.io/apimachinery/pkg/util/cache": {"LRUExpireCache", "Expiring"},
}

// row matches a row of a table whose first column is a name in code.
var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|(.*)\\|$")

// TestMemoryPageIsComplete: each type and variable of the product that is kept and shared has a row, and each row a type or variable.
func TestMemoryPageIsComplete(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(repository, memoryPage))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, match := range row.FindAllStringSubmatch(string(content), -1) {
		name, cells := match[1], strings.Split(match[2], "|")
		if named[name] {
			t.Errorf("%s has two rows for %s", memoryPage, name)
		}
		named[name] = true
		if slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) == "" }) {
			t.Errorf("%s: the row of %s has an empty column", memoryPage, name)
		}
	}
	declared, memories := map[string]bool{}, 0
	for _, root := range product {
		for folder, files := range packagesBelow(t, root) {
			for file, parsed := range files {
				for name, isMemory := range declarationsOf(parsed) {
					name = folder + "." + name
					declared[name] = true
					if !isMemory {
						continue
					}
					if memories++; !named[name] {
						t.Errorf("%s: %s has no row for %s", file, memoryPage, name)
					}
				}
			}
		}
	}
	if memories == 0 {
		t.Error("the product has no memory: the test does not find it")
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if !declared[name] {
			t.Errorf("%s has a row for %s, which the product does not declare", memoryPage, name)
		}
	}
}

// TestMemoriesAreFound has one declaration for each way in which the product may keep something.
func TestMemoriesAreFound(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "example.go", `package example

import (
	mutexes "sync"
	"sync/atomic"

	expiring "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/lru"
	"github.com/hashicorp/golang-lru/v2/expirable"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

type (
	aField       struct{ mu mutexes.Mutex }
	anEmbedded   struct{ *mutexes.RWMutex }
	aMap         struct{ all mutexes.Map }
	aPointer     struct{ all atomic.Pointer[map[string]int] }
	aCache       struct{ recent *lru.Cache }
	aParameter[K comparable] struct{ recent expirable.LRU[K, int] }
	anInner      struct{ of map[string]struct{ mu *mutexes.Mutex } }
	anExpiring   struct{ recent *expiring.LRUExpireCache }
	notACache    struct{ objects cache.Cache }
	notAPointer  struct{ one atomic.Pointer[string] }
	notAField    struct{ do func(*mutexes.Mutex) }
)

var (
	aVariable mutexes.Mutex
	aValue    = lru.New(3)
	anAddress = &mutexes.Map{}
	aStruct   struct{ mutexes.Mutex }
	notAValue = cache.New()
)

func notAMemory() { type aLocal struct{ mutexes.Mutex } }
`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for name, isMemory := range declarationsOf(parsed) {
		if found++; isMemory == strings.HasPrefix(name, "not") {
			t.Errorf("%s: a memory is %v", name, isMemory)
		}
	}
	if want := 18; found != want {
		t.Errorf("%d declarations are found, of %d", found, want)
	}
}

// packagesBelow parses the sources below a folder of the repository, without tests and generated code. They are by folder and by file.
func packagesBelow(t *testing.T, root string) map[string]map[string]*ast.File {
	t.Helper()
	packages := map[string]map[string]*ast.File{}
	err := filepath.WalkDir(filepath.Join(repository, root), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && entry.Name() != "testdata" {
			return err
		}
		if entry.IsDir() {
			return filepath.SkipDir
		}
		if filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		file = strings.TrimPrefix(filepath.ToSlash(file), repository+"/")
		if packages[path.Dir(file)] == nil {
			packages[path.Dir(file)] = map[string]*ast.File{}
		}
		packages[path.Dir(file)][file] = parsed
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// isDeclared reports whether a package declares a name, as in hub/path.Book.
func isDeclared(t *testing.T, name string) bool {
	t.Helper()
	at := strings.LastIndex(name, ".")
	if at < 0 {
		return false
	}
	folder, name := name[:at], name[at+1:]
	if info, err := os.Stat(filepath.Join(repository, folder)); err != nil || !info.IsDir() {
		return false
	}
	for _, file := range packagesBelow(t, folder)[folder] {
		if _, found := declarationsOf(file)[name]; found {
			return true
		}
	}
	return false
}

// declarationsOf returns the types, also of functions, and the variables and functions of a package in a file, and which of them keep
// and share something.
func declarationsOf(file *ast.File) map[string]bool {
	imports, found := importsOf(file), map[string]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		if declared, ok := node.(*ast.TypeSpec); ok {
			found[declared.Name.Name] = imports.guard(declared.Type)
		}
		return true
	})
	for _, one := range file.Decls {
		switch declared := one.(type) {
		case *ast.FuncDecl:
			found[declared.Name.Name] = false
		case *ast.GenDecl:
			for _, spec := range declared.Specs {
				if values, ok := spec.(*ast.ValueSpec); ok {
					imports.addValues(found, values)
				}
			}
		}
	}
	return found
}

// imports are the import paths of a file by the name of the package.
type imports map[string]string

func importsOf(file *ast.File) imports {
	found := imports{}
	for _, one := range file.Imports {
		imported := strings.Trim(one.Path.Value, `"`)
		name := path.Base(imported)
		if regexp.MustCompile(`^v\d+$`).MatchString(name) {
			name = path.Base(path.Dir(imported))
		}
		if name = strings.TrimPrefix(name, "golang-"); one.Name != nil {
			name = one.Name.Name
		}
		found[name] = imported
	}
	return found
}

// addValues adds the variables of a declaration. One without a type has the type of its value: of a literal, or of a constructor.
func (i imports) addValues(found map[string]bool, declared *ast.ValueSpec) {
	for number, name := range declared.Names {
		found[name.Name] = i.guard(declared.Type)
		if declared.Type != nil || number >= len(declared.Values) {
			continue
		}
		value := declared.Values[number]
		if address, ok := value.(*ast.UnaryExpr); ok {
			value = address.X
		}
		switch made := value.(type) {
		case *ast.CompositeLit:
			found[name.Name] = i.guard(made.Type)
		case *ast.CallExpr:
			if from, ok := made.Fun.(*ast.SelectorExpr); ok {
				found[name.Name] = i.guard(&ast.SelectorExpr{X: from.X, Sel: ast.NewIdent(strings.TrimPrefix(from.Sel.Name, "New"))})
			}
		}
	}
}

// guard reports whether a type has a guard, at any depth. The parameters of a function are not kept.
func (i imports) guard(of ast.Expr) bool {
	if of == nil {
		return false
	}
	has := false
	ast.Inspect(of, func(node ast.Node) bool {
		switch part := node.(type) {
		case *ast.FuncType:
			return false
		case *ast.IndexExpr:
			_, ofMap := part.Index.(*ast.MapType)
			has = has || ofMap && i.is(part.X, "sync/atomic", "Pointer")
		case *ast.SelectorExpr:
			for from, names := range guards {
				has = has || i.is(part, from, names...)
			}
			has = has || i.isOfLRU(part)
		}
		return true
	})
	return has
}

// is reports whether a type is one of a package.
func (i imports) is(of ast.Expr, from string, names ...string) bool {
	selected, ok := of.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	in, ok := selected.X.(*ast.Ident)
	return ok && i[in.Name] == from && slices.Contains(names, selected.Sel.Name)
}

func (i imports) isOfLRU(of *ast.SelectorExpr) bool {
	in, ok := of.X.(*ast.Ident)
	return ok && slices.ContainsFunc(strings.Split(i[in.Name], "/"), func(part string) bool { return strings.HasSuffix(part, "lru") })
}
