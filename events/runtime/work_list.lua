-- The work list of one shard, as functions for the scripts that change it. KEYS[1] is what its keys begin with:
--
--   entry:<id>           hash: lane, owner, cost, content, due, attempts; while it is claimed, token; once it is to be
--                        due again after that, again and next (its due instant and content then)
--   <lane>:of:<owner>    sorted set: the owner's entries by the instant from which they can be claimed
--   <lane>:owners        sorted set: owners by the earliest such instant
--   lanes                sorted set: lanes by the earliest such instant
--   <lane>:charges       sorted set: owners by what was claimed for them; only those ahead of the next one
--   <lane>:charge        string: the charge of the owner who was served last
--   <lane>:due           sorted set: entries by the instant at which they are due, claimed or not
--
-- Fairness is start-time fair queueing: of the owners with something to claim the one with the least charge is served,
-- and charged with its cost; one who comes back begins at the charge of the one who was served last. Instants are
-- milliseconds since 1970 UTC. Crash-safe: each call is one step.

local work, base, MAX_OWNERS = {}, KEYS[1], 1000

-- Put ``member`` into ``key`` by the earliest instant in ``source``, or take it out where that has none.
local function follow(key, member, source)
  local first = redis.call('ZRANGE', source, 0, 0, 'WITHSCORES')
  if first[1] then redis.call('ZADD', key, first[2], member) else redis.call('ZREM', key, member) end
  return first[1]
end

-- Let an entry be claimed from the instant ``at`` on; nil: never more.
local function schedule(id, lane, owner, at)
  local owners, entries = base .. lane .. ':owners', base .. lane .. ':of:' .. owner
  if at then redis.call('ZADD', entries, at, id) else redis.call('ZREM', entries, id) end
  follow(owners, owner, entries)
  if not follow(base .. 'lanes', lane, owners) then
    redis.call('DEL', base .. lane .. ':charges', base .. lane .. ':charge')
  end
end

local function remove(id, lane, owner)
  redis.call('DEL', base .. 'entry:' .. id)
  redis.call('ZREM', base .. lane .. ':due', id)
  schedule(id, lane, owner)
end

-- The instant is by the clock of this server unless the installation has one of its own.
local function instant(given)
  local time = redis.call('TIME')
  return tonumber(given) or time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Return the lane and the owner of an entry while ``token`` claims it.
local function claimed(id, token)
  local entry = redis.call('HMGET', base .. 'entry:' .. id, 'token', 'lane', 'owner')
  if entry[1] == token then return entry[2], entry[3] end
end

-- Make the indexes name an entry that nobody has claimed.
function work.index(id)
  local lane, owner, due = unpack(redis.call('HMGET', base .. 'entry:' .. id, 'lane', 'owner', 'due'))
  redis.call('HDEL', base .. 'entry:' .. id, 'token')
  redis.call('ZADD', base .. lane .. ':due', due, id)
  schedule(id, lane, owner, due)
end

-- Add an entry; return 1. For one that is there return 0, unless ``repeats``: then one that is claimed is due again
-- afterwards, and one that is not is "moved" to the other instant if ``repeats`` says so.
function work.add(id, lane, owner, cost, due, content, repeats)
  local entry = base .. 'entry:' .. id
  if redis.call('EXISTS', entry) == 1 then
    if repeats ~= '' and redis.call('HEXISTS', entry, 'token') == 1 then
      redis.call('HSETNX', entry, 'next', content)
      redis.call('HSET', entry, 'again', due)
      return 1
    end
    if repeats == 'moved' then
      redis.call('HSET', entry, 'due', due)
      work.index(id)
    end
    return 0
  end
  redis.call('HSET', entry, 'lane', lane, 'owner', owner, 'cost', cost, 'content', content, 'due', due, 'attempts', 0)
  work.index(id)
  return 1
end

-- Claim an entry of a lane with ``token``; return its id, owner, content, due instant and attempts, or false.
function work.claim(given, lane, lease, token)
  local now, charges, charge = instant(given), base .. lane .. ':charges', base .. lane .. ':charge'
  for _ = 1, MAX_OWNERS do
    local ready = redis.call('ZRANGEBYSCORE', base .. lane .. ':owners', '-inf', now, 'LIMIT', 0, MAX_OWNERS)
    if not ready[1] then return false end
    local level, owner, least = tonumber(redis.call('GET', charge) or 0), nil, math.huge
    for place, own in ipairs(redis.call('ZMSCORE', charges, unpack(ready))) do
      own = math.max(level, tonumber(own or 0))
      if own < least then owner, least = ready[place], own end
    end
    local id = redis.call('ZRANGEBYSCORE', base .. lane .. ':of:' .. owner, '-inf', now, 'LIMIT', 0, 1)[1]
    local entry = base .. 'entry:' .. id
    local cost, content, due = unpack(redis.call('HMGET', entry, 'cost', 'content', 'due'))
    if cost then
      redis.call('HSET', entry, 'token', token)
      redis.call('SET', charge, least)
      redis.call('ZREMRANGEBYSCORE', charges, '-inf', least)
      redis.call('ZADD', charges, least + cost, owner)
      schedule(id, lane, owner, now + lease)
      return {id, owner, content, due, redis.call('HINCRBY', entry, 'attempts', 1)}
    end
    remove(id, lane, owner)
  end
  return false
end

-- Let a claim last for ``lease`` milliseconds from now, with another content if one is given; return 1, or 0 when it is
-- lost.
function work.renew(id, token, lease, given, content)
  local lane, owner = claimed(id, token)
  if not lane then return 0 end
  if content then redis.call('HSET', base .. 'entry:' .. id, 'content', content) end
  schedule(id, lane, owner, instant(given) + lease)
  return 1
end

-- Give a claim up: the entry is due at another instant, in the lane ``to``. Return 1, or 0 when the claim is lost.
function work.postpone(id, token, due, attempts, to)
  local lane, owner = claimed(id, token)
  if not lane then return 0 end
  redis.call('ZREM', base .. lane .. ':due', id)
  schedule(id, lane, owner)
  redis.call('HSET', base .. 'entry:' .. id, 'due', due, 'attempts', attempts, 'lane', to)
  work.index(id)
  return 1
end

-- Remove an entry that is done; one that was added again meanwhile is due again, with ``following`` as its content if
-- that is given. Return 1, or 0 when the claim is lost.
function work.finish(id, token, following)
  local lane, owner = claimed(id, token)
  if not lane then return 0 end
  local again, content, cost = unpack(redis.call('HMGET', base .. 'entry:' .. id, 'again', 'next', 'cost'))
  remove(id, lane, owner)
  if again then work.add(id, lane, owner, cost, again, following or content, '') end
  return 1
end

-- Remove entries, claimed or not.
function work.discard(...)
  for _, id in ipairs({...}) do
    local lane, owner = unpack(redis.call('HMGET', base .. 'entry:' .. id, 'lane', 'owner'))
    if lane then remove(id, lane, owner) end
  end
end
