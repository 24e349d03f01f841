// Merkle trees as in RFC 9162, 2.1: leaves and nodes have different prefixes.

import {areEqual, joined, sha256} from "./hashes.js";

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

export function hashLeaf(entry) {
  return sha256(joined(LEAF, entry));
}

function hashNode(left, right) {
  return sha256(joined(NODE, left, right));
}

const isOdd = (number) => number % 2 === 1;
const half = (number) => Math.floor(number / 2); // sizes may be beyond 32 bits

// Returns the root of a tree of `size` leaves in which the leaf with this index (from 0) and hash has this audit path;
// null when no such tree has a path of this length (RFC 9162, 2.1.3.2).
export async function rootOfInclusion(index, size, leafHash, path) {
  if (index < 0 || index >= size) return null;
  let node = index;
  let last = size - 1;
  let hash = leafHash;
  for (const sibling of path) {
    if (last === 0) return null;
    if (isOdd(node) || node === last) {
      hash = await hashNode(sibling, hash);
      while (!isOdd(node) && node !== 0) {
        node = half(node);
        last = half(last);
      }
    } else hash = await hashNode(hash, sibling);
    node = half(node);
    last = half(last);
  }
  return last === 0 ? hash : null;
}

// Returns whether a path proves that the tree {size, root} `second` continues `first` (RFC 9162, 2.1.4.2).
export async function isContinued(first, second, path) {
  if (first.size > second.size) return false;
  if (first.size === second.size) return path.length === 0 && areEqual(first.root, second.root);
  if (first.size === 0) return path.length === 0;
  let node = first.size - 1;
  let last = second.size - 1;
  while (isOdd(node)) {
    node = half(node);
    last = half(last);
  }
  const hashes = node === 0 ? [first.root, ...path] : path; // the old tree is a whole subtree of the new one
  if (hashes.length === 0) return false;
  let [older] = hashes;
  let newer = older;
  for (const hash of hashes.slice(1)) {
    if (last === 0) return false;
    if (isOdd(node) || node === last) {
      older = await hashNode(hash, older);
      newer = await hashNode(hash, newer);
      while (!isOdd(node) && node !== 0) {
        node = half(node);
        last = half(last);
      }
    } else newer = await hashNode(newer, hash);
    node = half(node);
    last = half(last);
  }
  return last === 0 && areEqual(older, first.root) && areEqual(newer, second.root);
}
