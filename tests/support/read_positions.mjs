// Reads positions as the page that verifies does, one {table, position} a line, and writes what stands where, one a line.

import {createInterface} from "node:readline";
import {readPosition} from "../../api/pages/static/proof/boards.js";

for await (const line of createInterface({input: process.stdin})) {
  const {table, position} = JSON.parse(line);
  console.log(JSON.stringify(readPosition(table, position)));
}
