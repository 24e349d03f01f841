-- Lets a claimed dispatch take the notices of others of its player along, which are then sent with it.
--
-- KEYS  1 base of the work list
-- ARGV  1 entry of the dispatch  2 token of its claim  3 now, empty: by the clock of this server
--       then the entries of the others
-- Returns the notices of them all, or nothing when the claim is lost, or a dispatch to the player is being sent.
--
-- Crash-safe: one step. A dispatch that begins to be sent has the token of its claim in the field "sending": it takes no
-- more along later, and goes with none, so that what is sent again under the same Message-ID is the same mail.

local lane, player = claimed(ARGV[1], ARGV[2])
if not lane then return false end
local entry, now = base .. 'entry:' .. ARGV[1], instant(ARGV[3])
for _, id in ipairs(redis.call('ZRANGEBYSCORE', base .. lane .. ':of:' .. player, '(' .. now, '+inf')) do
  local token, sending = unpack(redis.call('HMGET', base .. 'entry:' .. id, 'token', 'sending'))
  if token and token == sending and id ~= ARGV[1] then return false end
end
local dispatch = cjson.decode(redis.call('HGET', entry, 'content'))
for place = 4, #ARGV do
  local sending, due, content = unpack(redis.call('HMGET', base .. 'entry:' .. ARGV[place], 'sending', 'due', 'content'))
  if content and not sending and tonumber(due) <= now then
    for _, notice in ipairs(cjson.decode(content).notices) do table.insert(dispatch.notices, notice) end
    work.discard(ARGV[place])
  end
end
redis.call('HSET', entry, 'content', cjson.encode(dispatch), 'sending', ARGV[2])
return dispatch.notices
