# SPDX-License-Identifier: MIT
# spins.awk - the spins of a kernel in llvm-objdump's disassembly of an AMD code
# object.  One line for each load and the way from a pause over it to the same
# pause again, "poll invl2=N invl1=N wbl2=N"; then one for the whole kernel,
# "kernel invl2=N invl1=N wbl2=N stores_behind_wbl2=N".
#
#   awk -v kernel=REGEX -f spins.awk FILE.dis
function hex(s,  i, v) {
  v = 0
  for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", tolower(substr(s, i, 1))) - 1
  return v
}
/^[0-9a-f]+ <.*>:$/ {
  inside = $2 ~ kernel && !done
  if (inside) { done = 1; begin = hex($1) }
  next
}
inside && /\/\/ / {
  n++
  op[n] = $1
  text[n] = $0
  match($0, /\/\/ [0-9A-F]+/)
  at[n] = hex(substr($0, RSTART + 3, RLENGTH - 3))
  index_of[at[n]] = n
  target[n] = 0
  if ($1 ~ /^s_c?branch/ && match($0, /\+0x[0-9a-f]+>/)) target[n] = begin + hex(substr($0, RSTART + 3, RLENGTH - 4))
}
function count(name, from, to,  i, c) {
  c = 0
  for (i = from; i <= to; i++) if (op[i] ~ name) c++
  return c
}
# Distances from i along `edges`, and the way there.  No way leads through a barrier.
function walk(i, edges, distance, from,  head, tail, queue, q, k, m, ends) {
  split("", distance)
  distance[i] = 0
  queue[tail = 1] = i
  for (head = 1; head <= tail; head++) {
    q = queue[head]
    m = split(edges[q], ends, " ")
    for (k = 1; k <= m; k++) if (op[ends[k]] != "s_barrier" && !(ends[k] in distance)) {
      distance[ends[k]] = distance[q] + 1
      from[ends[k]] = q
      queue[++tail] = ends[k]
    }
  }
}
# Fill `poll` with the shortest way from pause i over load l to the pause again.  Longer
# than 32 instructions is no poll: compilers leave branches that never go that way.
function around(i, l,  q) {
  split("", poll)
  if (!(l in there) || !(l in back) || there[l] + back[l] > 32) return 0
  for (q = l; q != i; q = came[q]) poll[q] = 1
  for (q = l; q != i; q = goes[q]) poll[q] = 1
  return 1
}
function within(name,  i, c) {
  c = 0
  for (i in poll) if (op[i] ~ name) c++
  return c
}
function edge(from, to) {
  after[from] = after[from] " " to
  before[to] = before[to] " " from
}
# The barriers that a store or an atomic reaches with no s_waitcnt vmcnt(0) on the way.
function unwaited(  i, head, tail, queue, under_way, q, k, m, ends, out) {
  for (i = 1; i <= n; i++) if (op[i] ~ /^(global|flat|buffer)_(store|atomic)/) queue[++tail] = i
  for (head = 1; head <= tail; head++) {
    q = queue[head]
    if (q in out) continue
    out[q] = 1
    m = split(after[q], ends, " ")
    for (k = 1; k <= m; k++) {
      i = ends[k]
      if (i in under_way) continue
      under_way[i] = 1
      if (!(op[i] == "s_waitcnt" && text[i] ~ /vmcnt\(0\)/)) queue[++tail] = i
    }
  }
  for (i = 1; i <= n; i++) if (op[i] == "s_barrier" && (i in under_way)) printf "unwaited %x\n", at[i]
}
END {
  if (!n) { print "no kernel " kernel; exit 1 }
  for (i = 1; i <= n; i++) {
    if (i < n && op[i] != "s_branch" && op[i] != "s_endpgm") edge(i, i + 1)
    if (target[i]) edge(i, index_of[target[i]])
  }
  for (i = 1; i <= n; i++) {
    if (op[i] != "s_sleep") continue
    walk(i, after, there, came)
    walk(i, before, back, goes)
    for (l = 1; l <= n; l++)
      if (op[l] ~ /^(global|flat)_load/ && around(i, l))
        print "poll invl2=" within("^buffer_invl2$"), "invl1=" within("^buffer_wbinvl1_vol$"), \
          "wbl2=" within("^buffer_wbl2$")
  }
  unwaited()
  for (i = 1; i <= n; i++)
    if (op[i] == "buffer_wbl2" && op[i + 1] == "s_waitcnt" && op[i + 2] ~ /^(global|flat)_store/) behind++
  print "kernel invl2=" count("^buffer_invl2$", 1, n), "invl1=" count("^buffer_wbinvl1_vol$", 1, n), \
    "wbl2=" count("^buffer_wbl2$", 1, n), "stores_behind_wbl2=" behind + 0
}
