-- Empties the texts of one author in a chat.
--
-- KEYS  1 chat
-- ARGV  1 author
--
-- Entries of a stream cannot be changed, so the chat is written again in one step, every message with its number.

local entries = redis.call('XRANGE', KEYS[1], '-', '+')
redis.call('DEL', KEYS[1])
for _, entry in ipairs(entries) do
  local fields = entry[2]
  for place = 1, #fields, 2 do
    if fields[place] == 'by' and fields[place + 1] == ARGV[1] then
      for other = 1, #fields, 2 do
        if fields[other] == 'text' then fields[other + 1] = '' end
      end
    end
  end
  redis.call('XADD', KEYS[1], entry[1], unpack(fields))
end
