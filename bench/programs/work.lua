-- Calls, tables, strings and sorting, half a second of each kind of thing that scripts do.
local size = tonumber(arg[1]) or 1
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local sum = fib(22 + size)
for round = 1, 4 * size do
  local words, seen = {}, {}
  for k = 1, 6000 do words[k] = string.format("%06d", (k * 7919 + round * 104729) % 100003) end
  table.sort(words)
  for _, word in ipairs(words) do
    local key = word:sub(1, 3)
    seen[key] = (seen[key] or 0) + #word
  end
  for key, value in pairs(seen) do sum = sum + tonumber(key) * value end
  sum = sum + #table.concat(words, ","):gsub("9", "nine")
end
print(sum)
