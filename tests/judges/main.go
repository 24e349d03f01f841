// Judges notes, proofs and tiles with the packages that check Go's own log of modules (golang.org/x/mod/sumdb), which
// share no code with Rookery. It reads requests as JSON, one a line, and answers each with a line: "ok" or what is wrong.
package main

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const (
	tileHeight     = 8
	tileWidth      = 1 << tileHeight
	sampledRecords = 50
)

type request struct {
	Kind      string   // note, record, tree, tiles
	Note      string   // of a note
	Vkeys     []string // of a log or witnesses: all must have signed
	Directory string   // of tiles: has checkpoint, tile/...
	Entries   bool     // of tiles: tile/entries are there, too
	Size      int64
	Root      []byte
	Index     int64 // of a record
	Leaf      []byte
	OldSize   int64 // of a tree
	OldRoot   []byte
	Path      [][]byte
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var asked request
		err := json.Unmarshal(lines.Bytes(), &asked)
		if err == nil {
			err = judge(asked)
		}
		if err != nil {
			fmt.Println(strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			fmt.Println("ok")
		}
	}
}

func judge(asked request) error {
	switch asked.Kind {
	case "note":
		_, err := open(asked.Note, asked.Vkeys)
		return err
	case "record":
		return tlog.CheckRecord(hashes(asked.Path), asked.Size, hash(asked.Root), asked.Index, tlog.RecordHash(asked.Leaf))
	case "tree":
		return tlog.CheckTree(hashes(asked.Path), asked.Size, hash(asked.Root), asked.OldSize, hash(asked.OldRoot))
	case "tiles":
		return judgeTiles(asked)
	}
	return fmt.Errorf("kind %q is not known", asked.Kind)
}

// open returns the tree of a checkpoint that all keys have signed.
func open(text string, vkeys []string) (tlog.Tree, error) {
	verifiers := []note.Verifier{}
	for _, vkey := range vkeys {
		verifier, err := verifierOf(vkey)
		if err != nil {
			return tlog.Tree{}, err
		}
		verifiers = append(verifiers, verifier)
	}
	opened, err := note.Open([]byte(text), note.VerifierList(verifiers...))
	if err != nil {
		return tlog.Tree{}, err
	}
	if len(opened.Sigs) != len(vkeys) {
		return tlog.Tree{}, fmt.Errorf("%d of %d keys have signed", len(opened.Sigs), len(vkeys))
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifiers[0].Name() {
		return tlog.Tree{}, errors.New("the text is no checkpoint of this log")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

// verifierOf also knows cosignatures (type 4), which the package note does not.
func verifierOf(vkey string) (note.Verifier, error) {
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 {
		return nil, errors.New("malformed vkey")
	}
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != 4 {
		return note.NewVerifier(vkey)
	}
	digest := sha256.Sum256(append([]byte(parts[0]+"\n"), key...))
	if parts[1] != fmt.Sprintf("%x", digest[:4]) {
		return nil, errors.New("the key id is wrong")
	}
	return cosigner{parts[0], binary.BigEndian.Uint32(digest[:4]), key[1:]}, nil
}

type cosigner struct {
	name string
	id   uint32
	key  ed25519.PublicKey
}

func (c cosigner) Name() string    { return c.name }
func (c cosigner) KeyHash() uint32 { return c.id }
func (c cosigner) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	message := fmt.Sprintf("cosignature/v1\ntime %d\n%s", binary.BigEndian.Uint64(signature), text)
	return ed25519.Verify(c.key, []byte(message), signature[8:])
}

// judgeTiles checks a mirror: the root follows from all tiles of level 0, higher tiles and entries agree with them, and
// sampled records and older trees can be proved from the tiles.
func judgeTiles(asked request) error {
	text, err := os.ReadFile(filepath.Join(asked.Directory, "checkpoint"))
	if err != nil {
		return err
	}
	tree, err := open(string(text), asked.Vkeys)
	if err != nil {
		return err
	}
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		found := make([]tlog.Hash, len(indexes))
		for place, index := range indexes {
			if index >= int64(len(stored)) {
				return nil, fmt.Errorf("hash %d is missing", index)
			}
			found[place] = stored[index]
		}
		return found, nil
	})
	for first := int64(0); first < tree.N; first += tileWidth {
		tile := tlog.Tile{H: tileHeight, L: 0, N: first / tileWidth, W: width(tree.N - first)}
		records, err := os.ReadFile(pathOf(asked.Directory, strconv.Itoa(tile.L), tile.N, tile.W))
		if err != nil {
			return err
		}
		if len(records) != tile.W*tlog.HashSize {
			return fmt.Errorf("tile 0/%d has %d bytes", tile.N, len(records))
		}
		if asked.Entries {
			if err := judgeEntries(asked.Directory, tile, records); err != nil {
				return err
			}
		}
		for place := 0; place < tile.W; place++ {
			made, err := tlog.StoredHashesForRecordHash(first+int64(place), hash(records[place*tlog.HashSize:]), reader)
			if err != nil {
				return err
			}
			stored = append(stored, made...)
		}
	}
	root, err := tlog.TreeHash(tree.N, reader)
	if err != nil {
		return err
	}
	if root != tree.Hash {
		return fmt.Errorf("the tiles have the root %v, the checkpoint %v", root, tree.Hash)
	}
	return judgeProofs(asked.Directory, tree, reader)
}

func judgeEntries(directory string, tile tlog.Tile, records []byte) error {
	packed, err := os.ReadFile(pathOf(directory, "entries", tile.N, tile.W))
	if err != nil {
		return err
	}
	for place := 0; place < tile.W; place++ {
		if len(packed) < 2 || len(packed) < 2+int(binary.BigEndian.Uint16(packed)) {
			return fmt.Errorf("entries %d end after %d", tile.N, place)
		}
		length := 2 + int(binary.BigEndian.Uint16(packed))
		entry := tlog.RecordHash(packed[2:length])
		if !bytes.Equal(entry[:], records[place*tlog.HashSize:(place+1)*tlog.HashSize]) {
			return fmt.Errorf("entry %d of bundle %d is not that of the tile", place, tile.N)
		}
		packed = packed[length:]
	}
	if len(packed) != 0 {
		return fmt.Errorf("entries %d have %d bytes too many", tile.N, len(packed))
	}
	return nil
}

// judgeProofs reads tiles of all levels: TileHashReader checks each against the tree before it is used.
func judgeProofs(directory string, tree tlog.Tree, stored tlog.HashReader) error {
	tiles := tlog.TileHashReader(tree, tileFiles(directory))
	step := tree.N/sampledRecords + 1
	for index := int64(0); index < tree.N; index += step {
		path, err := tlog.ProveRecord(tree.N, index, tiles)
		if err != nil {
			return err
		}
		records, err := stored.ReadHashes([]int64{tlog.StoredHashIndex(0, index)})
		if err != nil {
			return err
		}
		if err := tlog.CheckRecord(path, tree.N, tree.Hash, index, records[0]); err != nil {
			return err
		}
		older, err := tlog.TreeHash(index+1, stored)
		if err != nil {
			return err
		}
		consistent, err := tlog.ProveTree(tree.N, index+1, tiles)
		if err != nil {
			return err
		}
		if err := tlog.CheckTree(consistent, tree.N, tree.Hash, index+1, older); err != nil {
			return err
		}
	}
	return nil
}

type tileFiles string

func (directory tileFiles) Height() int                     { return tileHeight }
func (directory tileFiles) SaveTiles([]tlog.Tile, [][]byte) {}
func (directory tileFiles) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	read := make([][]byte, len(tiles))
	for place, tile := range tiles {
		content, err := os.ReadFile(pathOf(string(directory), strconv.Itoa(tile.L), tile.N, tile.W))
		if errors.Is(err, os.ErrNotExist) && tile.W < tileWidth {
			content, err = os.ReadFile(pathOf(string(directory), strconv.Itoa(tile.L), tile.N, tileWidth))
		}
		if err != nil {
			return nil, err
		}
		if len(content) < tile.W*tlog.HashSize {
			return nil, fmt.Errorf("tile %d/%d is too short", tile.L, tile.N)
		}
		read[place] = content[:tile.W*tlog.HashSize]
	}
	return read, nil
}

// pathOf returns the path of a tile as C2SP tlog-tiles has it: tile/0/x001/234, tile/entries/000.p/7.
func pathOf(directory, level string, number int64, width int) string {
	name := fmt.Sprintf("%03d", number%1000)
	for number >= 1000 {
		number /= 1000
		name = fmt.Sprintf("x%03d/%s", number%1000, name)
	}
	if width < tileWidth {
		name += fmt.Sprintf(".p/%d", width)
	}
	return filepath.Join(directory, "tile", level, filepath.FromSlash(name))
}

func width(left int64) int {
	if left < tileWidth {
		return int(left)
	}
	return tileWidth
}

func hashes(path [][]byte) []tlog.Hash {
	made := make([]tlog.Hash, len(path))
	for place, each := range path {
		made[place] = hash(each)
	}
	return made
}

func hash(raw []byte) (made tlog.Hash) {
	copy(made[:], raw)
	return made
}
