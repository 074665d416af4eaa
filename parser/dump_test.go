package parser

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
)

// dump writes a tree on indented lines, without positions and zero values.
// Expressions and queries are written as SQL with every operator in brackets.
func dump(v any) string {
	var sb strings.Builder
	dumpValue(&sb, reflect.ValueOf(v), 0)
	return sb.String()
}

func dumpValue(sb *strings.Builder, v reflect.Value, depth int) {
	for v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		switch x := v.Interface().(type) {
		case *ast.Query:
			sb.WriteString(FormatQuery(x) + "\n")
			return
		case ast.Expr:
			sb.WriteString(Format(x) + "\n")
			return
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case ast.Name:
		sb.WriteString(FormatName(x) + "\n")
		return
	case ast.TypeName:
		sb.WriteString(FormatType(x) + "\n")
		return
	case ast.CopyOption:
		v := x.Text()
		switch x.Form {
		case ast.CopyNone:
			v = "true"
		case ast.CopyList:
			v = strings.Join(x.List, ",")
		}
		fmt.Fprintf(sb, "%s = %q\n", x.Name, v)
		return
	case ast.Option:
		fmt.Fprintf(sb, "%s = %q\n", x.Name, x.Value)
		return
	}
	pad := strings.Repeat("  ", depth+1)
	switch v.Kind() {
	case reflect.Struct:
		if t, ok := v.Addr().Interface().(ast.TableExpr); ok {
			var f formatter
			f.tableExpr(t)
			sb.WriteString(f.String() + "\n")
			return
		}
		sb.WriteString(v.Type().Name() + "\n")
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if f := v.Field(i); !f.IsZero() && name != "At" && name != "Pos" && name != "ColumnPos" {
				fmt.Fprintf(sb, "%s%s: ", pad, name)
				dumpValue(sb, f, depth+1)
			}
		}
	case reflect.Slice:
		if v.Len() > 0 && v.Index(0).Kind() == reflect.String {
			fmt.Fprintf(sb, "%q\n", v.Interface())
			return
		}
		sb.WriteString("\n")
		for i := range v.Len() {
			sb.WriteString(pad + "- ")
			dumpValue(sb, v.Index(i), depth+1)
		}
	case reflect.String:
		fmt.Fprintf(sb, "%q\n", v.Interface())
	default:
		fmt.Fprintf(sb, "%v\n", v.Interface())
	}
}
