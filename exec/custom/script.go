package custom

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// DefaultMaxSteps is the bound on the steps of one call where none is set. A call has stepsPerRow more for each of its rows, so that a large
// epoch of one key is not an overrun.
const (
	DefaultMaxSteps = 1_000_000
	stepsPerRow     = 1_000
)

// script is a processor written in Starlark.
type script struct {
	name    string
	steps   uint64
	memory  int64
	result  *Schema
	thread  *starlark.Thread
	acct    *account
	self    *selfValue
	methods map[string]*starlark.Function
	h       *Handle
	handle  *object
	clock   *object // timerValues of the calls at one time
	at      TimerValues
	expired *object // expiredTimerInfo of the timer at expiry
	expiry  int64
}

// The methods of a processor and the number of their parameters.
var scriptMethods = map[string]int{"init": 2, "handleInputRows": 4, "handleExpiredTimer": 4, "handleInitialState": 4, "close": 1}

// fileOptions are the dialect: recursion stays forbidden, since nothing bounds the stack.
var fileOptions = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true}

// NewScript makes a processor of a text in Starlark. Errors: 42601 with line and column for what does not parse, 42P13 for functions that are
// missing or have other parameters. bounds hold for each call.
func NewScript(name, body string, result *Schema, bounds Bounds) (StatefulProcessor, error) {
	p := newScript(name, bounds)
	p.result = result
	globals, err := p.run(body)
	if err != nil {
		return nil, err
	}
	for m, params := range scriptMethods {
		v, ok := globals[m]
		if !ok {
			continue
		}
		f, ok := v.(*starlark.Function)
		if !ok || f.NumParams() != params {
			return nil, sqlerr.New(InvalidFunctionDefinition, "%s of processor \"%s\" must be a function of %d parameters", m, name, params)
		}
		p.methods[m] = f
	}
	for _, m := range []string{"init", "handleInputRows"} {
		if p.methods[m] == nil {
			return nil, sqlerr.New(InvalidFunctionDefinition, "processor \"%s\" has no function %s", name, m)
		}
	}
	p.self = &selfValue{attrs: map[string]starlark.Value{}}
	return p, nil
}

// InvalidFunctionDefinition is the SQLSTATE of a body that is not a processor or function.
const InvalidFunctionDefinition sqlerr.Code = "42P13"

// Bounds are those of a call; 0 stands for the default.
type Bounds struct{ Steps, Memory int64 }

func newScript(name string, b Bounds) *script {
	if b.Steps <= 0 {
		b.Steps = DefaultMaxSteps
	}
	if b.Memory <= 0 {
		b.Memory = DefaultMaxMemory
	}
	p := &script{name: name, steps: uint64(b.Steps), memory: b.Memory, methods: map[string]*starlark.Function{}}
	p.newThread()
	return p
}

func (p *script) newThread() {
	p.thread = &starlark.Thread{Name: p.name, Print: func(*starlark.Thread, string) {}}
	p.acct = &account{th: p.thread}
	p.thread.SetLocal(accountKey, p.acct)
	if p.h != nil {
		p.h.acct = p.acct
	}
}

// run executes a module and gives its frozen globals.
func (p *script) run(body string) (starlark.StringDict, error) {
	f, err := fileOptions.Parse(p.name, body, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	f.Stmts = (&instrumenter{}).stmts(f.Stmts)
	prog, err := starlark.FileProgram(f, builtins.Has)
	if err != nil {
		return nil, syntaxError(err)
	}
	p.begin(0)
	globals, err := prog.Init(p.thread, builtins)
	globals.Freeze()
	return globals, p.ended(0, err)
}

// begin gives a call of so many rows its allowance.
func (p *script) begin(rows int) {
	p.thread.SetMaxExecutionSteps(p.thread.ExecutionSteps() + p.steps + uint64(rows)*stepsPerRow)
	p.acct.open(p.memory + int64(rows)*memoryPerRow)
}

// ended gives the error with which a call ended, nil for none. One that broke off leaves a new thread for the next.
func (p *script) ended(rows int, err error) error {
	spent := p.acct.spent()
	if err == nil && !spent {
		return nil
	}
	text := ""
	if err != nil {
		e := scriptError(err).(*sqlerr.Error)
		if !spent && !strings.Contains(err.Error(), "too many steps") {
			return e
		}
		text = "\n" + e.Message
	}
	limit := sqlerr.New(sqlerr.ProgramLimitExceeded, "the call took more than %d steps (processor_max_steps)%s", p.steps+uint64(rows)*stepsPerRow, text)
	if spent {
		limit = sqlerr.New(sqlerr.ProgramLimitExceeded, "%s%s", p.acct.overrun().Message, text)
	}
	p.newThread()
	return limit
}

// syntaxError turns what the scanner, parser or resolver says into an error with line and column of the body.
func syntaxError(err error) error {
	pos, msg := syntax.Position{}, err.Error()
	var se syntax.Error
	var re resolveErrors
	switch {
	case errors.As(err, &se):
		pos, msg = se.Pos, se.Msg
	case errors.As(err, &re) && len(re) > 0:
		pos, msg = re[0].Pos, re[0].Msg
	default:
		return sqlerr.New(sqlerr.SyntaxError, "%s", msg)
	}
	e := sqlerr.New(sqlerr.SyntaxError, "line %d, column %d of the body: %s", pos.Line, pos.Col, msg)
	e.Where = fmt.Sprintf("line %d, column %d of the body", pos.Line, pos.Col)
	return e
}

// scriptError turns an error of a call into one with a traceback. An error of ours keeps its code.
func scriptError(err error) error {
	var ee *starlark.EvalError
	text := err.Error()
	if errors.As(err, &ee) {
		text = strings.TrimSpace(ee.Backtrace())
	}
	var own *sqlerr.Error
	if errors.As(err, &own) {
		e := *own
		if ee != nil {
			e.Message = text
		}
		return &e
	}
	return sqlerr.New(UserError, "%s", text)
}

// call runs a method with a fresh allowance of steps; rows is the number of rows that it gets.
func (p *script) call(method string, rows int, args ...starlark.Value) (starlark.Value, error) {
	f := p.methods[method]
	if f == nil {
		return starlark.None, nil
	}
	p.begin(rows)
	v, err := starlark.Call(p.thread, f, args, nil)
	return v, p.ended(rows, err)
}

// Init implements StatefulProcessor.
func (p *script) Init(h *Handle) error {
	p.h, p.handle, p.expired = h, handleObject(h), expiredObject(&p.expiry)
	h.acct = p.acct
	_, err := p.call("init", 0, p.self, p.handle)
	p.self.Freeze()
	return err
}

// keyTuple gives a key as Spark does: a tuple.
func keyTuple(key Row) starlark.Tuple {
	t := make(starlark.Tuple, key.Len())
	for i := range t {
		t[i] = key.Schema.Fields[i].toScript(key.Datum(i))
	}
	return t
}

// timers gives the clocks of a call.
func (p *script) timers(t TimerValues) *object {
	if p.clock == nil || p.at != t {
		p.clock, p.at = timerObject(t), t
	}
	return p.clock
}

// HandleInputRows implements StatefulProcessor.
func (p *script) HandleInputRows(key Row, rows Rows, t TimerValues) (Output, error) {
	v, err := p.call("handleInputRows", rows.Len(), p.self, keyTuple(key), &rowList{rows, p.acct}, p.timers(t))
	return p.output(v, err)
}

// HandleExpiredTimer implements StatefulProcessor.
func (p *script) HandleExpiredTimer(key Row, t TimerValues, x ExpiredTimerInfo) (Output, error) {
	p.expiry = x.ExpiryTimeInMs
	v, err := p.call("handleExpiredTimer", 0, p.self, keyTuple(key), p.timers(t), p.expired)
	return p.output(v, err)
}

// HandleInitialState implements StatefulProcessor.
func (p *script) HandleInitialState(key, initial Row, t TimerValues) error {
	_, err := p.call("handleInitialState", 0, p.self, keyTuple(key), rowOf(initial), p.timers(t))
	return err
}

// Close implements StatefulProcessor.
func (p *script) Close() error {
	_, err := p.call("close", 0, p.self)
	return err
}

// output reads what a call returned: None, or an iterable of rows.
func (p *script) output(v starlark.Value, err error) (Output, error) {
	if err != nil || v == starlark.None {
		return nil, err
	}
	it := starlark.Iterate(v)
	if it == nil {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "the processor returned a %s instead of None or a list of tuples", v.Type())
	}
	defer it.Done()
	out := Output{}
	var x starlark.Value
	for it.Next(&x) {
		if err := p.acct.charge(rowBytes); err != nil {
			return nil, p.ended(0, err)
		}
		row, err := fieldsInto(p.acct, p.h.datums(len(p.result.Fields)), p.result, x, "the result")
		if err != nil {
			return nil, p.ended(0, err)
		}
		out = append(out, row)
	}
	return out, nil
}
