-- Stores a mail that has arrived and makes it due at once, unless it is known or too much waits already.
--
-- KEYS  1 base of the inbox (work_list.lua)  2 order  3 mails  4 contents
-- ARGV  1 digest  2 JSON of the mail  3 compressed content  4 instant  5 player  6 instant before which mails are forgotten
--       7 most mails  8 most that wait  9 most bytes that wait
-- Returns "stored", "known" or "full".
--
-- Crash-safe: one step. Killed before, the sender was not told that the mail is accepted, and sends it again; sent again
-- after it, the mail is known.

if redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then return 'known' end
local bytes = #ARGV[3]
local waiting = redis.call('HKEYS', KEYS[4])
for _, digest in ipairs(waiting) do bytes = bytes + redis.call('HSTRLEN', KEYS[4], digest) end
if #waiting >= tonumber(ARGV[8]) or bytes > tonumber(ARGV[9]) then return 'full' end
redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
redis.call('HSET', KEYS[4], ARGV[1], ARGV[3])
work.add(ARGV[5] .. ' ' .. ARGV[1], '', ARGV[5], 1, ARGV[4], '', '')
for place = 2, 4 do redis.call('PEXPIRE', KEYS[place], ARGV[4] - ARGV[6]) end
local old = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[6])
for _, digest in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1 - tonumber(ARGV[7]))) do old[#old + 1] = digest end
for _, digest in ipairs(old) do
  redis.call('ZREM', KEYS[2], digest)
  redis.call('HDEL', KEYS[3], digest)
  redis.call('HDEL', KEYS[4], digest)
end
return 'stored'
