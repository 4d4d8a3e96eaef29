package handlers

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// minGzipBytes: a body that fits into one packet does not arrive sooner compressed.
const minGzipBytes = 1400

// encodings are a body that many responses share, in the content codings that callers may accept.
type encodings struct {
	plain, gzip encoding // gzip has no body where compression does not pay
}

// encoding is a body in one content coding, with its headers, whose values all responses share.
type encoding struct {
	body   []byte
	header http.Header
}

// encode compresses a body as well as gzip can, since that is done once. The header is the same in each coding.
func encode(body []byte, header http.Header) encodings {
	encoded := encodings{plain: newEncoding(body, header)}
	if len(body) < minGzipBytes {
		return encoded
	}
	var packed bytes.Buffer
	packer, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid
	_, err := packer.Write(body)
	if err := errors.Join(err, packer.Close()); err != nil {
		panic(err) // memory accepts every write
	}
	if packed.Len() < len(body) {
		encoded.gzip = newEncoding(packed.Bytes(), header)
		encoded.gzip.header.Set("Content-Encoding", "gzip")
	}
	return encoded
}

// newEncoding tags a body with half of its hash, which is enough to distinguish the bodies of an address.
func newEncoding(body []byte, header http.Header) encoding {
	hash := sha256.Sum256(body)
	e := encoding{body, maps.Clone(header)}
	e.header.Set("ETag", strconv.Quote(base64.RawURLEncoding.EncodeToString(hash[:16])))
	e.header.Set("Content-Length", strconv.Itoa(len(body)))
	return e
}

// write sends the body in a coding that the caller accepts, or a 304.
func (e encodings) write(w http.ResponseWriter, r *http.Request, cacheControl string) error {
	sent := e.plain
	if e.gzip.body != nil && acceptsGzip(r.Header["Accept-Encoding"]) {
		sent = e.gzip
	}
	header := w.Header()
	maps.Copy(header, sent.header)
	header.Set("Cache-Control", cacheControl)
	if etagMatches(r.Header["If-None-Match"], sent.header.Get("ETag")) {
		for _, name := range []string{"Content-Type", "Content-Length", "Content-Encoding"} {
			header.Del(name)
		}
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	_, err := w.Write(sent.body) // #nosec G705 -- encoded by the gateway, with its type
	return err
}

// acceptsGzip reads Accept-Encoding (RFC 9110, section 12.5.3): gzip, by name or by a star, unless its
// weight is zero.
func acceptsGzip(accepted []string) bool {
	star := false
	for _, line := range accepted {
		for part := range strings.SplitSeq(line, ",") {
			name, weight, _ := strings.Cut(part, ";")
			_, weight, _ = strings.Cut(weight, "=")
			wanted := strings.Trim(weight, " 0.") != "" || strings.TrimSpace(weight) == ""
			switch strings.TrimSpace(name) {
			case "gzip", "x-gzip":
				return wanted
			case "*":
				star = wanted
			}
		}
	}
	return star
}

// etagMatches reports whether If-None-Match names a tag, or any (RFC 9110, section 13.1.2). A proxy
// that compresses makes a tag weak; the page is the same.
func etagMatches(known []string, etag string) bool {
	for _, line := range known {
		for part := range strings.SplitSeq(line, ",") {
			part = strings.TrimSpace(part)
			if strings.TrimPrefix(part, "W/") == etag || part == "*" {
				return true
			}
		}
	}
	return false
}
