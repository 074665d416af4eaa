package wire

import (
	"crypto/tls"
	"encoding/binary"
	"strings"
	"time"

	"github.com/jackc/pgproto3/v2"

	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// Codes that a start-up packet may have instead of a protocol version.
const (
	codeSSL    = 80877103
	codeGSSENC = 80877104
	codeCancel = 80877102
)

func fatal(code sqlerr.Code, format string, args ...any) *sqlerr.Error {
	e := sqlerr.New(code, format, args...)
	e.Severity = "FATAL"
	return e
}

// startup brings the connection to its first ReadyForQuery. errClosed means that there is nothing to say.
func (c *conn) startup() error {
	_ = c.raw.SetDeadline(time.Now().Add(c.srv.opts.StartupTimeout)) // fails only on a closed socket, as the read will
	if c.srv.draining.Load() {
		return errClosed
	}
	body, err := c.negotiate()
	if err != nil {
		return err
	}
	params, unknown, err := parseStartup(body)
	if err != nil {
		return err
	}
	if minor := binary.BigEndian.Uint32(body) & 0xffff; minor > 0 || len(unknown) > 0 {
		c.out.buf = appendNegotiate(c.out.buf, unknown)
	}
	if c.srv.opts.RequireTLS && !c.encrypted {
		return fatal(sqlerr.InvalidAuthorization, "connection requires encryption")
	}
	if !c.srv.register(c) {
		return fatal(sqlerr.TooManyConnections, "sorry, too many clients already")
	}
	if err := c.authenticate(params.User); err != nil {
		return err
	}
	params.RemoteAddr, params.ProcessID = c.raw.RemoteAddr().String(), c.pid
	params.Notice, params.ParameterStatus, params.Deallocate = c.notice, c.parameterStatus, c.deallocate
	err = c.engine(func() (err error) {
		c.sess, err = c.srv.engine.NewSession(params)
		return err
	})
	if err != nil {
		e := *sqlerr.From(err)
		e.Severity = "FATAL"
		return &e
	}
	c.announce(params)
	_ = c.raw.SetDeadline(time.Time{}) // as above
	return nil
}

// negotiate answers requests for encryption and gives the start-up packet that follows them.
func (c *conn) negotiate() ([]byte, error) {
	for tries := 0; tries < 4; tries++ {
		body, err := c.in.startup()
		if err != nil {
			return nil, err
		}
		switch code := binary.BigEndian.Uint32(body); code {
		case codeSSL:
			if err := c.startTLS(); err != nil {
				return nil, err
			}
		case codeGSSENC:
			c.out.buf = append(c.out.buf, 'N')
			if err := c.out.flush(); err != nil {
				return nil, err
			}
		case codeCancel:
			if len(body) == 12 {
				c.srv.cancel(binary.BigEndian.Uint32(body[4:]), binary.BigEndian.Uint32(body[8:]))
			}
			return nil, errClosed
		default:
			if code>>16 != 3 {
				return nil, fatal(sqlerr.FeatureNotSupported, "unsupported frontend protocol %d.%d: server supports 3.0 to 3.0", code>>16, code&0xffff)
			}
			return body, nil
		}
	}
	return nil, protocolErrorf("too many requests for encryption")
}

// startTLS answers an SSLRequest.
func (c *conn) startTLS() error {
	if c.srv.opts.TLS == nil || c.encrypted {
		c.out.buf = append(c.out.buf, 'N')
		return c.out.flush()
	}
	if c.in.buffered() > 0 {
		// Someone in the middle may have put it there; it must not be taken for what comes encrypted.
		return fatal(sqlerr.ProtocolViolation, "received unencrypted data after SSL request")
	}
	c.out.buf = append(c.out.buf, 'S')
	if err := c.out.flush(); err != nil {
		return err
	}
	tc := tls.Server(c.raw, c.srv.opts.TLS)
	if err := tc.Handshake(); err != nil {
		c.log.Debug().Err(err).Msg("tls handshake failed")
		return errClosed
	}
	c.in.r, c.out.w, c.encrypted = tc, tc, true
	return nil
}

// appendNegotiate appends NegotiateProtocolVersion: the newest version is 3.0, and these options are not known.
func appendNegotiate(dst []byte, unknown []string) []byte {
	at := len(dst) + 1
	dst = append(dst, 'v', 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, 3<<16)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(unknown)))
	for _, name := range unknown {
		dst = append(append(dst, name...), 0)
	}
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at))
	return dst
}

// parseStartup reads the parameters of a start-up packet; unknown are the protocol options that it asks for.
func parseStartup(body []byte) (p session.Params, unknown []string, err error) {
	p.Settings = map[string]string{}
	rest := string(body[4:])
	for {
		name, after, ok := strings.Cut(rest, "\x00")
		if !ok {
			return p, nil, protocolErrorf("invalid startup packet layout: expected terminator as last byte")
		}
		if name == "" {
			if after != "" {
				return p, nil, protocolErrorf("invalid startup packet layout: expected terminator as last byte")
			}
			break
		}
		value, after, ok := strings.Cut(after, "\x00")
		if !ok {
			return p, nil, protocolErrorf("invalid startup packet layout: expected terminator as last byte")
		}
		rest = after
		if strings.HasPrefix(name, "_pq_.") {
			unknown = append(unknown, name)
			continue
		}
		if err := startupParam(&p, name, value); err != nil {
			return p, nil, err
		}
	}
	if p.User == "" {
		return p, nil, fatal(sqlerr.InvalidAuthorization, "no PostgreSQL user name specified in startup packet")
	}
	if p.Database == "" {
		p.Database = p.User
	}
	return p, unknown, nil
}

func startupParam(p *session.Params, name, value string) error {
	switch {
	case name == "user":
		p.User = value
	case name == "database":
		p.Database = value
	case name == "options":
		return startupOptions(p, value)
	case name == "replication":
		switch strings.ToLower(value) {
		case "false", "off", "no", "0":
		default:
			return fatal(sqlerr.FeatureNotSupported, "replication connections are not supported")
		}
	default:
		if name == "application_name" {
			p.Application = value
		}
		p.Settings[name] = value
	}
	return nil
}

// startupOptions reads "-c name=value" and "--name=value" as the postgres command line does.
func startupOptions(p *session.Params, s string) error {
	args := splitOptions(s)
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "-c" && i+1 < len(args):
			i++
			arg = args[i]
		case strings.HasPrefix(arg, "-c"):
			arg = arg[2:]
		case strings.HasPrefix(arg, "--"):
			arg = arg[2:]
		default:
			return fatal(sqlerr.SyntaxError, "invalid command-line argument for server process: %s", arg)
		}
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return fatal(sqlerr.SyntaxError, "-c %s requires a value", arg)
		}
		p.Settings[strings.ReplaceAll(name, "-", "_")] = value
	}
	return nil
}

// splitOptions splits at white space; a backslash takes the next character as it is.
func splitOptions(s string) []string {
	var args []string
	var cur []byte
	in := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			if in {
				args, cur, in = append(args, string(cur)), nil, false
			}
		case c == '\\' && i+1 < len(s):
			i++
			cur, in = append(cur, s[i]), true
		default:
			cur, in = append(cur, c), true
		}
	}
	if in {
		args = append(args, string(cur))
	}
	return args
}

// authenticate proves that the client is user, or tells why not.
func (c *conn) authenticate(user string) error {
	if c.srv.opts.Auth == SCRAM {
		if err := c.authenticateSCRAM(user); err != nil {
			return err
		}
	}
	c.out.send(&pgproto3.AuthenticationOk{})
	return nil
}

func (c *conn) authenticateSCRAM(user string) error {
	secret, known := c.srv.secrets.lookup(user)
	x := scramExchange{secret: secret}
	c.out.send(&pgproto3.AuthenticationSASL{AuthMechanisms: []string{scramMechanism}})
	var first pgproto3.SASLInitialResponse
	if err := c.saslMessage(&first); err != nil {
		return err
	}
	if first.AuthMechanism != scramMechanism {
		return fatal(sqlerr.ProtocolViolation, "client selected an invalid SASL authentication mechanism")
	}
	answer, err := x.first(string(first.Data))
	if err != nil {
		return err
	}
	c.out.send(&pgproto3.AuthenticationSASLContinue{Data: []byte(answer)})
	var last pgproto3.SASLResponse
	if err := c.saslMessage(&last); err != nil {
		return err
	}
	answer, ok, err := x.final(string(last.Data))
	if err != nil {
		return err
	}
	if !ok || !known {
		return fatal(sqlerr.InvalidPassword, "password authentication failed for user \"%s\"", user)
	}
	c.out.send(&pgproto3.AuthenticationSASLFinal{Data: []byte(answer)})
	return nil
}

func (c *conn) saslMessage(m pgproto3.FrontendMessage) error {
	if err := c.out.flush(); err != nil {
		return err
	}
	typ, body, err := c.in.next()
	if err != nil {
		return err
	}
	if typ != 'p' {
		return fatal(sqlerr.ProtocolViolation, "expected SASL response, got message type %d", typ)
	}
	return decode(m, body)
}

// reported are the parameters that PostgreSQL 15 tells a client at start-up, with the value that holds where the engine has none of its own.
var reported = []struct{ name, value string }{
	{"application_name", ""},
	{"client_encoding", "UTF8"},
	{"DateStyle", "ISO, MDY"},
	{"default_transaction_read_only", "off"},
	{"in_hot_standby", "off"},
	{"integer_datetimes", "on"},
	{"IntervalStyle", "postgres"},
	{"is_superuser", "on"},
	{"server_encoding", "UTF8"},
	{"server_version", ""},
	{"session_authorization", ""},
	{"standard_conforming_strings", "on"},
	{"TimeZone", "UTC"},
}

// announce tells the client the parameters, its backend id, and any part of its protocol request that is not known.
func (c *conn) announce(p session.Params) {
	for _, r := range reported {
		value, ok := c.sess.Setting(r.name)
		if !ok {
			switch value = r.value; r.name {
			case "application_name":
				value = p.Application
			case "session_authorization":
				value = p.User
			case "server_version":
				value = ServerVersion(c.srv.opts.Version)
			}
		}
		c.out.send(&pgproto3.ParameterStatus{Name: r.name, Value: clean(value)})
	}
	c.out.send(&pgproto3.BackendKeyData{ProcessID: c.pid, SecretKey: c.secret})
}

// ServerVersion gives the value of server_version for a version of Tidemark: drivers read the number in front.
func ServerVersion(tidemark string) string {
	if tidemark == "" {
		tidemark = "dev"
	}
	return "15.0 (Tidemark " + tidemark + ")"
}
