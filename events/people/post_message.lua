-- Adds a message to a chat, remembers the request, and announces it; a repeated request adds nothing.
--
-- KEYS  1 chat  2 request
-- ARGV  1 instant  2 author  3 text  4 fingerprint of the request  5 most messages  6 seconds to remember the request
--       7 channel  8 match
-- Returns "number:fingerprint" of the request, false when the chat is full.
--
-- Crash-safe: one step. Killed before, nothing was written; a repeated request, by redis-py too, is recognised.

local said = redis.call('GET', KEYS[2])
if said then return said end
local number = redis.call('XLEN', KEYS[1]) + 1
if number > tonumber(ARGV[5]) then return false end
redis.call('XADD', KEYS[1], number .. '-0', 'at', ARGV[1], 'by', ARGV[2], 'text', ARGV[3])
said = number .. ':' .. ARGV[4]
redis.call('SET', KEYS[2], said, 'EX', ARGV[6])
redis.call('PUBLISH', ARGV[7], ARGV[8])
return said
