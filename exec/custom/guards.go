package custom

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Functions that a rewritten body calls (instrument.go), and built-in functions that charge the account of a call.

type builtinFunc = func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

// addGuards puts the functions into what scripts can name.
func addGuards(names starlark.StringDict) {
	for op, name := range guardedOps {
		names[name] = starlark.NewBuiltin(name, operator(op))
		names[name+"="] = starlark.NewBuiltin(name+"=", augmentedOperator(op))
	}
	names[copiedName] = starlark.NewBuiltin("copy", copied(1))
	names[slicedName] = starlark.NewBuiltin("slice", copied(0))
	for name, c := range methodCosts {
		names[dotName+name] = starlark.NewBuiltin(name, calledMethod(name, c))
		names[boundName+name] = starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return boundMethod(args[0], name)
		})
	}
	for name, c := range functionCosts {
		f := starlark.Universe[name].(*starlark.Builtin)
		names[name] = starlark.NewBuiltin(name, func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			if err := pay(th, c, nil, args, kw); err != nil {
				return nil, err
			}
			return f.CallInternal(th, args, kw)
		})
	}
	names["getattr"] = starlark.NewBuiltin("getattr", getattr)
}

// pay charges what a call costs.
func pay(th *starlark.Thread, c cost, self starlark.Value, args starlark.Tuple, kw []starlark.Tuple) error {
	n, err := c(self, args, kw)
	if err != nil {
		return err
	}
	return accountOf(th).charge(n)
}

func operator(op syntax.Token) builtinFunc {
	return func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		n, err := binaryCost(op, args[0], args[1])
		if err == nil && n > 0 {
			err = accountOf(th).charge(n)
		}
		if err != nil {
			return nil, err
		}
		return starlark.Binary(op, args[0], args[1])
	}
}

// augmentedOperator is x op= y: lists and dicts are changed in place.
func augmentedOperator(op syntax.Token) builtinFunc {
	plain := operator(op)
	inPlace := func(th *starlark.Thread, method string, x starlark.HasAttrs, y starlark.Value) (starlark.Value, error) {
		m, err := boundMethod(x, method)
		if err != nil {
			return nil, err
		}
		_, err = m.(*starlark.Builtin).CallInternal(th, starlark.Tuple{y}, nil)
		return x, err
	}
	return func(th *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		switch x := args[0].(type) {
		case *starlark.List:
			if _, ok := args[1].(starlark.Iterable); ok && op == syntax.PLUS {
				return inPlace(th, "extend", x, args[1])
			}
		case *starlark.Dict:
			if _, ok := args[1].(*starlark.Dict); ok && op == syntax.PIPE {
				return inPlace(th, "update", x, args[1])
			}
		}
		return plain(th, b, args, kw)
	}
}

// copied charges a copy of its argument, which it gives back; perByte is what a byte of a string costs.
func copied(perByte int64) builtinFunc {
	return func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		n := int64(0)
		switch x := args[0].(type) {
		case starlark.String, starlark.Bytes:
			n = perByte * length(x)
		case *starlark.Dict:
			n = 4 * valueBytes * length(x)
		default:
			n = valueBytes * length(x)
		}
		return args[0], accountOf(th).charge(n)
	}
}

// guarded says whether the methods of a value are those of the interpreter.
func guarded(v starlark.Value) bool {
	switch v.(type) {
	case starlark.String, starlark.Bytes, *starlark.List, *starlark.Dict, *starlark.Set:
		return true
	}
	return false
}

// attribute is x.name.
func attribute(x starlark.Value, name string) (starlark.Value, error) {
	if h, ok := x.(starlark.HasAttrs); ok {
		v, err := h.Attr(name)
		if v != nil || err != nil {
			return v, err
		}
	}
	return nil, fmt.Errorf("%s has no .%s field or method", x.Type(), name)
}

// calledMethod is x.name(...), with x as the first argument.
func calledMethod(name string, c cost) builtinFunc {
	return func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		m, err := attribute(args[0], name)
		if err != nil {
			return nil, err
		}
		b, ok := m.(*starlark.Builtin)
		if !ok {
			return starlark.Call(th, m, args[1:], kw)
		}
		if guarded(args[0]) {
			if err := pay(th, c, args[0], args[1:], kw); err != nil {
				return nil, err
			}
		}
		return b.CallInternal(th, args[1:], kw)
	}
}

// boundMethod is x.name as a value.
func boundMethod(x starlark.Value, name string) (starlark.Value, error) {
	m, err := attribute(x, name)
	b, ok := m.(*starlark.Builtin)
	c := methodCosts[name]
	if err != nil || !ok || c == nil || !guarded(x) {
		return m, err
	}
	return starlark.NewBuiltin(name, func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		if err := pay(th, c, x, args, kw); err != nil {
			return nil, err
		}
		return b.CallInternal(th, args, kw)
	}), nil
}

// getattr gives methods as boundMethod does.
func getattr(th *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	if len(args) >= 2 && len(kw) == 0 {
		if name, ok := args[1].(starlark.String); ok && methodCosts[string(name)] != nil && guarded(args[0]) {
			if m, err := boundMethod(args[0], string(name)); err == nil {
				return m, nil
			}
		}
	}
	return starlark.Universe["getattr"].(*starlark.Builtin).CallInternal(th, args, kw)
}
