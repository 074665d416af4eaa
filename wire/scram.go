package wire

import (
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/text/secure/precis"
)

// scramMechanism is the one SASL mechanism that is offered.
const scramMechanism = "SCRAM-SHA-256"

// scramIterations is PostgreSQL's number of iterations for new passwords.
const scramIterations = 4096

// scramSecret is what a server keeps of a password (RFC 5802, section 3).
type scramSecret struct {
	salt       []byte
	iterations int
	storedKey  []byte
	serverKey  []byte
}

// secretStore holds the secrets of all users.
type secretStore struct {
	users map[string]scramSecret
	// mockKey makes up salts for users that do not exist, the same ones each time, so that a client cannot tell.
	mockKey [32]byte
}

func newSecretStore(users map[string]string) (*secretStore, error) {
	st := &secretStore{users: make(map[string]scramSecret, len(users))}
	if _, err := rand.Read(st.mockKey[:]); err != nil {
		return nil, fmt.Errorf("read random bytes: %w", err)
	}
	for name, password := range users {
		s, err := parseSecret(password)
		if err != nil {
			return nil, fmt.Errorf("user %q: %w", name, err)
		}
		st.users[name] = s
	}
	return st, nil
}

// lookup gives the secret of a user; ok is false, and the secret matches no password, where there is none.
func (st *secretStore) lookup(user string) (s scramSecret, ok bool) {
	if s, ok := st.users[user]; ok {
		return s, true
	}
	salt := hmacSum(st.mockKey[:], []byte(user))
	return scramSecret{salt: salt[:16], iterations: scramIterations, storedKey: make([]byte, sha256.Size), serverKey: make([]byte, sha256.Size)}, false
}

// parseSecret reads a stored verifier, or makes one of a plain password.
func parseSecret(s string) (scramSecret, error) {
	rest, ok := strings.CutPrefix(s, scramMechanism+"$")
	if !ok {
		salt := make([]byte, 16)
		if _, err := rand.Read(salt); err != nil {
			return scramSecret{}, fmt.Errorf("read random bytes: %w", err)
		}
		return deriveSecret(s, salt, scramIterations)
	}
	bad := fmt.Errorf("malformed %s verifier", scramMechanism)
	head, keys, ok := strings.Cut(rest, "$")
	iter, salt64, ok2 := strings.Cut(head, ":")
	stored64, server64, ok3 := strings.Cut(keys, ":")
	if !ok || !ok2 || !ok3 {
		return scramSecret{}, bad
	}
	n, err := strconv.Atoi(iter)
	salt, err1 := base64.StdEncoding.DecodeString(salt64)
	stored, err2 := base64.StdEncoding.DecodeString(stored64)
	server, err3 := base64.StdEncoding.DecodeString(server64)
	if err != nil || err1 != nil || err2 != nil || err3 != nil || n < 1 || len(stored) != sha256.Size || len(server) != sha256.Size {
		return scramSecret{}, bad
	}
	return scramSecret{salt: salt, iterations: n, storedKey: stored, serverKey: server}, nil
}

func deriveSecret(password string, salt []byte, iterations int) (scramSecret, error) {
	// As PostgreSQL does, a password that SASLprep refuses is used as it is.
	if p, err := precis.OpaqueString.String(password); err == nil {
		password = p
	}
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		return scramSecret{}, fmt.Errorf("derive key: %w", err)
	}
	stored := sha256.Sum256(hmacSum(salted, []byte("Client Key")))
	return scramSecret{salt: salt, iterations: iterations, storedKey: stored[:], serverKey: hmacSum(salted, []byte("Server Key"))}, nil
}

func hmacSum(key, data []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(data)
	return h.Sum(nil)
}

// scramExchange is the server's side of one authentication.
type scramExchange struct {
	secret      scramSecret
	gs2         string // the client's channel binding header
	clientFirst string // without that header
	serverFirst string
	nonce       string
}

// first takes the client's first message and gives the server's.
func (x *scramExchange) first(msg string) (string, error) {
	switch {
	case strings.HasPrefix(msg, "n,"), strings.HasPrefix(msg, "y,"):
	case strings.HasPrefix(msg, "p="):
		return "", protocolErrorf("client selected SCRAM-SHA-256 without channel binding, but the SCRAM message includes channel binding data")
	default:
		return "", protocolErrorf("malformed SCRAM message")
	}
	authzid, bare, ok := strings.Cut(msg[2:], ",")
	if !ok {
		return "", protocolErrorf("malformed SCRAM message")
	}
	if authzid != "" {
		return "", protocolErrorf("client uses authorization identity, but it is not supported")
	}
	x.gs2, x.clientFirst = msg[:2]+",", bare
	// The user name is that of the start-up packet; the one in here is ignored, as by PostgreSQL.
	_, nonce, ok := strings.Cut(bare, ",r=")
	if !ok || !strings.HasPrefix(bare, "n=") {
		return "", protocolErrorf("malformed SCRAM message")
	}
	nonce, _, _ = strings.Cut(nonce, ",")
	if nonce == "" || !printable(nonce) {
		return "", protocolErrorf("non-printable characters in SCRAM nonce")
	}
	var own [18]byte
	if _, err := rand.Read(own[:]); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	x.nonce = nonce + base64.StdEncoding.EncodeToString(own[:])
	x.serverFirst = "r=" + x.nonce + ",s=" + base64.StdEncoding.EncodeToString(x.secret.salt) + ",i=" + strconv.Itoa(x.secret.iterations)
	return x.serverFirst, nil
}

func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x21 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// final takes the client's last message; ok says whether the password was right, and then answer is the server's proof.
func (x *scramExchange) final(msg string) (answer string, ok bool, err error) {
	at := strings.LastIndex(msg, ",p=")
	if at < 0 {
		return "", false, protocolErrorf("malformed SCRAM message")
	}
	withoutProof := msg[:at]
	binding, nonce, found := strings.Cut(withoutProof, ",r=")
	if !found || binding != "c="+base64.StdEncoding.EncodeToString([]byte(x.gs2)) {
		return "", false, protocolErrorf("unexpected SCRAM channel-binding attribute in client-final-message")
	}
	if nonce != x.nonce {
		return "", false, protocolErrorf("SCRAM nonce does not match")
	}
	proof, err := base64.StdEncoding.DecodeString(msg[at+3:])
	if err != nil || len(proof) != sha256.Size {
		return "", false, protocolErrorf("malformed SCRAM message")
	}
	auth := []byte(x.clientFirst + "," + x.serverFirst + "," + withoutProof)
	clientKey := make([]byte, sha256.Size)
	subtle.XORBytes(clientKey, proof, hmacSum(x.secret.storedKey, auth))
	stored := sha256.Sum256(clientKey)
	if subtle.ConstantTimeCompare(stored[:], x.secret.storedKey) != 1 || bytes.Equal(x.secret.storedKey, make([]byte, sha256.Size)) {
		return "", false, nil
	}
	return "v=" + base64.StdEncoding.EncodeToString(hmacSum(x.secret.serverKey, auth)), true, nil
}
