// One key of a local space, and the members that want it.
//
// What is modelled, what is left out and what each seeded mistake (MISTAKE_…) shows: README.md. The names follow
// src/engine/local. Every store that a repair or another member could see is a step of its own; at every step a member
// may be stopped, killed, or, where it waits, give up.

#ifndef MEMBERS
#define MEMBERS 3
#endif
#ifndef CLAIMS
#define CLAIMS 1        // of each member
#endif
#ifndef DEATHS
#define DEATHS 1        // how many members are killed in one run, at most
#endif
#ifndef STOPS
#define STOPS 1         // how often a member is stopped; whether it ever continues is left open
#endif
#ifndef EARLY
#define EARLY 0         // how often a sleep ends at its bound though others still run
#endif
#ifndef TARDY
#define TARDY 0         // how often an offer is held to be unanswered for too long though its grantee runs
#endif
#ifndef CANCELS
#define CANCELS 1       // how many waits are given up
#endif
#ifndef RESTARTS
#define RESTARTS 0      // 1: the machine loses its power at any moment, and each member claims once more
#endif
#define ROOM (MEMBERS + 1)  // 0: nobody
#ifndef BLOCK
#define BLOCK 2         // epochs under one ceiling
#endif

// Which properties are asserted: all, or one alone, so that a seeded mistake is seen to break just that.
#define EXCLUSION 1
#define RISING_EPOCHS 2
#define NO_LOST_WAKE_UP 3
#define NO_DEADLOCK 4
#ifndef PROPERTY
#define PROPERTY 0
#endif
#if PROPERTY == 0 || PROPERTY == EXCLUSION
#define check_exclusion(x) assert(x)
#else
#define check_exclusion(x) skip
#endif
#if PROPERTY == 0 || PROPERTY == RISING_EPOCHS
#define check_epoch(x) assert(x)
#else
#define check_epoch(x) skip
#endif
#if PROPERTY == 0 || PROPERTY == NO_LOST_WAKE_UP
#define check_wake_up(x) assert(x)
#else
#define check_wake_up(x) skip
#endif
#if PROPERTY == 0
#define check_table(x) assert(x)
#else
#define check_table(x) skip
#endif

// ---- the table ------------------------------------------------------------------------------------------------------

byte lock;               // the bucket's word: whose section it is, and
bool sleepers;           //   the bit of those who sleep on it
byte entry;              // the bucket's entry: the key's slot

mtype = { held, offered, waiting, granted };
mtype slot_word[ROOM];   // commit word of a slot: 0 (cached, free), held, offered; the cell of member m is number m
byte slot_member[ROOM];  //   its member
byte slot_epoch[ROOM];
byte slot_claim[ROOM];   // the claim id: of whom
byte line_first[ROOM], line_last[ROOM], grantee[ROOM];

mtype node_word[ROOM];   // commit word of a node: 0, waiting, granted; the node of member m is number m
byte node_slot[ROOM];
byte node_next[ROOM], node_before[ROOM];
byte arrival[ROOM];
byte futex[ROOM];
bool passed[ROOM], abandoned[ROOM];

byte arrivals;
byte epoch;              // the highest given out
byte ceiling;            // the bound in the table
byte durable;            // the bound on the disk
byte disk_lock;          // ceiling.lock: held while a ceiling is written

// ---- the system -----------------------------------------------------------------------------------------------------

bool flagged[ROOM];      // the liveness word: the kernel flagged it, its member is dead;
bool life_sleepers[ROOM];  //   somebody sleeps on it
bool stopped[ROOM];
mtype = { on_bucket, in_line };
mtype asleep[ROOM];
bool woken[ROOM];        // of one asleep: a wake was sent to it
byte watched[ROOM];      // of one asleep in line: whose liveness word it is queued on, until it runs again
bool begun[ROOM];
bool finished[ROOM];
byte deaths = DEATHS, stops = STOPS, early = EARLY, tardy = TARDY, cancels = CANCELS;
#if RESTARTS
bool down;               // the machine went down, and
bool again_up[ROOM];     //   these members are there again
byte r;
#endif

// ---- what is watched ------------------------------------------------------------------------------------------------

bool believes[ROOM];     // a lease that its member may rely on
byte last_epoch;         // of all leases ever given
bool excused;            // a stop: from here on wake-ups may come by a bound alone, until the key has changed hands
byte tried;              // who woke at its bound since something was last done about the key: a bit each

#define settled(m) (flagged[m] || finished[m] || stopped[m] || (asleep[m] == in_line && !woken[m]) || \
                    (asleep[m] == on_bucket && !woken[m] && lock != 0 && !flagged[lock]))
#define held_by_living(m) (slot_word[m] == held && !flagged[slot_member[m]])
#define waits(m) (asleep[m] == in_line && !woken[m] && !flagged[m] && !stopped[m] && !finished[m])
#define has_tried(m) (!waits(m) || (tried & (1 << m)) != 0)
#if MEMBERS == 3
#define quiet (settled(1) && settled(2) && settled(3))
#define nobody_holds (!held_by_living(1) && !held_by_living(2) && !held_by_living(3))
#define somebody_waits (waits(1) || waits(2) || waits(3))
#define all_tried (has_tried(1) && has_tried(2) && has_tried(3))
#else
#define quiet (settled(1) && settled(2))
#define nobody_holds (!held_by_living(1) && !held_by_living(2))
#define somebody_waits (waits(1) || waits(2))
#define all_tried (has_tried(1) && has_tried(2))
#endif
// Nothing moves any more, nobody has the key, and no one who is stopped holds the bucket up.
#define key_is_due (quiet && nobody_holds && !(lock != 0 && stopped[lock] && !flagged[lock]))

inline progress() { tried = 0 }

// ---- death and stopping ---------------------------------------------------------------------------------------------

// The kernel flags the liveness word and wakes one of those who are queued on it, if the bit says that there are any.
inline die() {
  deaths--;
  flagged[me] = true;
  believes[me] = false;
  stopped[me] = false;
  asleep[me] = 0; woken[me] = false; watched[me] = 0;
  if
  :: life_sleepers[me] && watched[1] == me -> woken[1] = true
  :: life_sleepers[me] && watched[2] == me -> woken[2] = true
#if MEMBERS == 3
  :: life_sleepers[me] && watched[3] == me -> woken[3] = true
#endif
  :: !life_sleepers[me] || (watched[1] != me && watched[2] != me
#if MEMBERS == 3
     && watched[3] != me
#endif
     ) -> skip
  fi;
  progress()
}

inline wake_all(dead) {
  d_step {
    if :: watched[1] == dead -> woken[1] = true :: else fi;
    if :: watched[2] == dead -> woken[2] = true :: else fi;
#if MEMBERS == 3
    if :: watched[3] == dead -> woken[3] = true :: else fi;
#endif
  }
}

inline halt() {
  stops--;
  stopped[me] = true; excused = true;
  progress();
  !stopped[me];
  if
  :: true
  :: deaths > 0 -> goto dying
  fi
}

// Here a member may be killed, or be stopped and killed.
inline point() {
  if
  :: true
  :: deaths > 0 -> goto dying
  :: stops > 0 -> halt()
  fi
}

// ---- line.cc --------------------------------------------------------------------------------------------------------

inline raise(node) {
  futex[node] = (futex[node] + 1) % 8;
  wakes = wakes | (1 << node)
}

inline take_epoch() {
  new_epoch = 0;
  if
  :: epoch < ceiling -> epoch++; new_epoch = epoch
  :: else
  fi
}

// The lease is committed: whoever reads the slot's word sees its holder.
inline commit_held(s) {
  slot_claim[s] = me;
  point();
  slot_word[s] = held; slot_member[s] = me;
  check_exclusion(!believes[1] && !believes[2]);
#if MEMBERS == 3
  check_exclusion(!believes[3]);
#endif
  believes[me] = true;
  check_epoch(slot_epoch[s] > last_epoch);
#if RESTARTS == 0
  check_epoch(slot_epoch[s] <= durable);
#endif
  last_epoch = slot_epoch[s];
  progress();
  excused = excused && (stopped[1] || stopped[2]
#if MEMBERS == 3
            || stopped[3]
#endif
            );
  point()
}

inline enter_line(s, node) {
  node_next[node] = 0;
  node_before[node] = line_last[s];
  if
  :: line_last[s] != 0 -> node_next[line_last[s]] = node
  :: else -> line_first[s] = node
  fi;
  point();
  line_last[s] = node
}

inline leave_line(s, node, raises) {
  node_word[node] = 0; arrival[node] = 0;
  point();
  if :: grantee[s] == node -> grantee[s] = 0 :: else fi;
  if
  :: node_before[node] == 0 -> line_first[s] = node_next[node]
  :: else -> node_next[node_before[node]] = node_next[node]
  fi;
  if
  :: node_next[node] != 0 ->
    node_before[node_next[node]] = node_before[node];
#ifndef MISTAKE_STRANDED
    if :: raises -> raise(node_next[node]) :: else fi
#endif
  :: else -> line_last[s] = node_before[node]
  fi;
  node_next[node] = 0; node_before[node] = 0; node_slot[node] = 0; passed[node] = false; abandoned[node] = false;
  if :: line_first[s] == 0 -> arrivals = 0 :: else fi;
  progress();
  point()
}

inline withdraw_grant(s) {
  at = grantee[s];
  passed[at] = true;
  node_word[at] = waiting;
  point();
  grantee[s] = 0;
  raise(at);
  at = 0;
  progress()
}

#define may_be_granted(node) (node_word[node] != 0 && !passed[node] && !abandoned[node] && !flagged[node])

// None: nobody may have it, or (then the first who may is raised) there is no epoch.
inline grant_next(s) {
  at = line_first[s];
  do
  :: at != 0 && !may_be_granted(at) -> at = node_next[at]
  :: else -> break
  od;
  if
  :: at != 0 ->
#ifdef MISTAKE_OLD_EPOCH
    new_epoch = slot_epoch[s];
#else
    take_epoch();
#endif
    if
    :: new_epoch != 0 ->
      slot_epoch[s] = new_epoch;
      point();
      grantee[s] = at;
      node_word[at] = granted;
      progress();
      point();
      raise(at)
    :: else -> raise(at)
    fi;
    new_epoch = 0
  :: else
  fi;
  at = 0
}

inline end_if_idle(s) {
  if
  :: slot_word[s] == offered && line_first[s] == 0 ->
    slot_word[s] = 0;
    progress();
    point();
    if :: entry == s -> entry = 0 :: else fi;
    slot_epoch[s] = 0; slot_claim[s] = 0
  :: else
  fi
}

inline end_holding(s) {
  slot_word[s] = offered; slot_member[s] = 0;
  progress();
  point()
}

// ---- repair.cc ------------------------------------------------------------------------------------------------------

// The first by arrival among the nodes of slot s that are not linked yet.
inline first_unlinked(s) {
  d_step {
    at = 0; i = 1;
    do
    :: i <= MEMBERS ->
      if
      :: node_word[i] != 0 && node_slot[i] == s && (done & (1 << i)) == 0 &&
         (at == 0 || arrival[i] < arrival[at]) -> at = i
      :: else
      fi;
      i++
    :: else -> break
    od;
    i = 0
  }
}

inline relink(s) {
  line_first[s] = 0; line_last[s] = 0; grantee[s] = 0;
  next_grantee = 0; done = 0;
  point();
  first_unlinked(s);
  do
  :: at != 0 ->
    done = done | (1 << at);
    if
    :: node_word[at] == granted && slot_word[s] == held && slot_claim[s] == at ->
      node_word[at] = 0; arrival[at] = 0; node_slot[at] = 0; node_next[at] = 0; node_before[at] = 0;
      passed[at] = false; abandoned[at] = false
    :: else ->
      enter_line(s, at);
      if
      :: node_word[at] == granted && slot_word[s] == offered && next_grantee == 0 -> next_grantee = at
      :: node_word[at] == granted && !(slot_word[s] == offered && next_grantee == 0) -> node_word[at] = waiting
      :: else
      fi;
      raise(at)
    fi;
    first_unlinked(s)
  :: else -> break
  od;
  grantee[s] = next_grantee;
  next_grantee = 0; done = 0;
  point()
}

inline repair() {
  entry = 0;
  point();
  j = 1;
  do
  :: j <= MEMBERS ->
    if
    :: slot_word[j] != 0 ->
      check_table(entry == 0);  // a key has one slot
      entry = j;
      relink(j);
      if :: slot_word[j] == offered && grantee[j] == 0 -> grant_next(j) :: else fi
    :: else
    fi;
    j++
  :: else -> break
  od;
  j = 0
}

// ---- one member -----------------------------------------------------------------------------------------------------

mtype = { look, act, enter, leave, release };

inline leave_section() {
  atomic {
    point();
    woke = sleepers;
    lock = 0; sleepers = false;
    point();
    // Steps that do nothing are none.
    if
    :: !woke && wakes == 0 -> goto outside
    :: else
    fi
  };
  atomic {
    if
    :: woke && asleep[1] == on_bucket && !woken[1] -> woken[1] = true
    :: woke && asleep[2] == on_bucket && !woken[2] -> woken[2] = true
#if MEMBERS == 3
    :: woke && asleep[3] == on_bucket && !woken[3] -> woken[3] = true
#endif
    :: else
    fi;
    woke = false;
    point();
    if
    :: wakes == 0 -> goto outside
    :: else
    fi
  }
}

inline send_wakes() {
  i = 1;
  do
  :: i <= MEMBERS ->
    if
    :: (wakes & (1 << i)) != 0 ->
      if :: asleep[i] == in_line -> woken[i] = true :: else fi;
      wakes = wakes & ~(1 << i);
      point()
    :: else
    fi;
    i++
  :: else -> break
  od;
  i = 0
}

// Ceiling::raise, and then the bound in the table, which only rises. The lock of the file is the kernel's: it ends with
// its holder.
inline raise_ceiling() {
  atomic {
    disk_lock == 0 || flagged[disk_lock] -> disk_lock = me;
    point();
#ifdef MISTAKE_MEMORY_FIRST
    if :: ceiling < epoch + BLOCK -> ceiling = epoch + BLOCK :: else fi;
    disk_lock = 0
  };
  atomic {
#endif
    if
    :: durable <= epoch -> durable = epoch + BLOCK
    :: else
    fi;
    bound = durable;
    point();
    disk_lock = 0
  };
  atomic {
    if :: ceiling < bound -> ceiling = bound :: else fi;
    bound = 0;
    point()
  }
}

// What a look without the section (a consistent copy) and the proofs say: judge().
inline judge() {
  fact_over = 0; fact_dead = 0; fact_idle = 0;
  if
  :: lock == 0 && entry != 0 ->
    if
    :: slot_word[entry] == held && flagged[slot_member[entry]] ->
      fact_over = slot_member[entry];
      wake_all(fact_over)
    :: else
    fi;
    i = line_first[entry];
    do
    :: i != 0 ->
      if
      :: flagged[i] -> fact_dead = fact_dead | (1 << i); wake_all(i)
      :: !flagged[i] && abandoned[i] -> fact_dead = fact_dead | (1 << i)
      :: !flagged[i] && !abandoned[i] && grantee[entry] == i && stopped[i] -> fact_idle = i
      :: !flagged[i] && !abandoned[i] && grantee[entry] == i && i != me && !stopped[i] && tardy > 0 ->
        tardy--; fact_idle = i
      :: else
      fi;
      i = node_next[i]
    :: else -> break
    od
  :: else
  fi
}

// What is done inside. LocalEngine::release, advance(), Claiming::enter, ::leave and ::look have much in common and
// share their steps here: first what each does before a grant,
inline before_the_grant() {
  s = entry;
  if
  :: op == look && s != 0 && node_word[me] != 0 -> check_table(node_slot[me] == s); passed[me] = false
  :: op == enter && s != 0 ->
    arrivals++;
    arrival[me] = arrivals;
    node_slot[me] = s;
    futex[me] = 0;
    point();
    node_word[me] = waiting;
    point();
    enter_line(s, me)
  :: op == release || (op == act && s != 0 && fact_over != 0 && slot_word[s] == held
#ifndef MISTAKE_STALE_PROOF
     && slot_member[s] == fact_over
#endif
     ) ->
    if
    :: op == release ->
      s = mine; mine = 0;
      check_exclusion(slot_word[s] == held && slot_member[s] == me)  // it is still ours;
      believes[me] = false
    :: else
    fi;
    end_holding(s)
  :: op == leave ->
    check_table(s != 0 && node_word[me] != 0 && node_slot[me] == s);
    if :: slot_word[s] == offered && grantee[s] == me -> skip :: else -> fact_dead = 1 << me fi
  :: else
  fi;
  i = 1;
  do
  :: fact_dead != 0 ->
    if
    :: (fact_dead & (1 << i)) != 0 ->
      if :: node_word[i] != 0 && node_slot[i] == s && s != 0 -> leave_line(s, i, true) :: else fi;
      fact_dead = fact_dead & ~(1 << i)
    :: else
    fi;
    i++
  :: else -> break
  od;
  i = 0;
  if
  :: s != 0 && fact_idle != 0 && grantee[s] == fact_idle && node_word[fact_idle] == granted -> withdraw_grant(s)
  :: else
  fi;
  fact_over = 0; fact_idle = 0
}

// then the grant, and who claims or leaves takes what is theirs: a free key, an offered one that nobody in line may
// have, or what was granted to them;
inline take_what_is_ours() {
  if
  :: s != 0 && op != enter && slot_word[s] == offered && grantee[s] == 0 ->
    grant_next(s);
    if :: op == look && grantee[s] == 0 && epoch >= ceiling -> no_epoch = true :: else fi
  :: else
  fi;
  if
  :: op == look && s == 0 && epoch >= ceiling -> no_epoch = true
  :: else
  fi;
  if
  :: op == look && !no_epoch && (s == 0 || (slot_word[s] == offered && grantee[s] == 0 && node_word[me] == 0)) ->
    take_epoch();
    if :: s == 0 -> check_table(slot_word[me] == 0); mine = me :: else -> mine = s fi;
    slot_epoch[mine] = new_epoch;
    new_epoch = 0
  :: (op == look || op == leave) && s != 0 && node_word[me] != 0 && slot_word[s] == offered && grantee[s] == me -> mine = s
  :: else
  fi;
  if
  :: mine != 0 ->
    commit_held(mine);
    if
    :: s == 0 -> entry = me
    :: s != 0 && node_word[me] != 0 -> leave_line(s, me, false)
    :: else
    fi
  :: else
  fi
}

// and at last whom a waiter watches, or the end of a slot that nobody needs.
inline after_the_grant() {
  if
  :: op == look && mine == 0 && !no_epoch ->
#ifdef MISTAKE_WATCH_NOBODY
    predecessor = (slot_word[s] == held -> slot_member[s] : 0);
#else
    // One that was passed over and stirs again is before the grantee in line: it watches the grantee.
    predecessor = (slot_word[s] == held -> slot_member[s] : grantee[s]);
#endif
    if
    :: node_word[me] != 0 ->
      value = futex[me];
      if :: node_before[me] != 0 -> predecessor = node_before[me] :: else fi
    :: else
    fi
  :: (op == act || op == leave || op == release) && s != 0 -> end_if_idle(s)
  :: else
  fi;
  s = 0
}

inline work() {
  before_the_grant();
  take_what_is_ours();
  after_the_grant()
}

// All members are alike, so that it is enough to look at the runs in which they begin in the order of their numbers.
#define may_start (begun[me - 1])
inline start() { begun[me] = true }

// Section::enter and the work inside. A try is one step: a load whose compare-and-swap fails afterwards only begins anew.
// What is done inside is a step together with entering, because nobody else reads or writes it before the section is left;
// a member that is stopped at a point inside gives the others their turn.
inline enter_and_work() {
  do
  :: atomic { lock == 0 && may_start -> start(); lock = me; sleepers = slept; slept = false; goto inside }
#ifndef MISTAKE_NO_TAKE_OVER
#ifdef MISTAKE_BREAK_IN
  :: atomic { lock != 0 && (flagged[lock] || stopped[lock]) && may_start ->
#else
  :: atomic { lock != 0 && flagged[lock] && may_start ->
#endif
      start(); lock = me; sleepers = true; slept = false; mend = true; goto inside }
#endif
  :: atomic { lock != 0 && !flagged[lock] && may_start ->
      start(); seen = lock; sleepers = true; slept = true; point() };
    atomic {
      if
      :: lock == seen && sleepers -> asleep[me] = on_bucket
      :: else
      fi;
      seen = 0
    };
    do
    :: atomic { asleep[me] == 0 -> break }
    :: atomic { asleep[me] == on_bucket && (woken[me] || lock == 0 || flagged[lock]) ->  // or the bound of 5 ms
        asleep[me] = 0; woken[me] = false; break }
    :: atomic { asleep[me] == on_bucket && deaths > 0 -> goto dying }
    :: atomic { asleep[me] == on_bucket && stops > 0 -> halt() }
    od
  // Whoever leaves does not wait for one that is stopped inside: it marks its node, and goes.
  :: atomic { op == leave && lock != 0 && stopped[lock] -> abandoned[me] = true; goto over }
  od;
inside:
  atomic {
    point();
    if :: mend -> repair(); mend = false :: else fi;
    work()
  }
}

#define needs_judging (slept_to_the_bound || predecessor == 0 || flagged[predecessor])

inline forget() {
  d_step {
    op = look; mine = 0; value = 0; predecessor = 0; wakes = 0; done = 0; next_grantee = 0; new_epoch = 0; bound = 0;
    s = 0; i = 0; j = 0; at = 0; seen = 0; fact_over = 0; fact_dead = 0; fact_idle = 0; claims = 0;
    slept = false; woke = false; mend = false; no_epoch = false; slept_to_the_bound = false
  }
}

proctype Member(byte me) {
  mtype op = look;
  byte s, i, j, at, seen, wakes, done, next_grantee, new_epoch, bound;
  byte mine, value, predecessor, fact_over, fact_dead, fact_idle;
  byte claims = CLAIMS;
  bool slept, woke, mend, no_epoch, slept_to_the_bound;

#if RESTARTS
  {
  skip;
#endif
again:
  skip;  // a jump out of a step into a step would be one step
  enter_and_work();
  leave_section();
  atomic { send_wakes() };

outside:
  skip;
  if
  :: atomic { op == release -> claims--; op = look; if :: claims == 0 -> goto over :: else -> goto again fi }
  :: atomic { op != release && mine != 0 ->
      op = release; slept_to_the_bound = false; predecessor = 0; value = 0; goto again }
  :: atomic { op == leave && mine == 0 -> goto over }
  :: atomic { (op == act || op == enter) && mine == 0 -> op = look; goto again }
  :: atomic { op == look && no_epoch -> no_epoch = false };
    raise_ceiling();
    goto again
  :: atomic { op == look && mine == 0 && !no_epoch && needs_judging ->
      judge();
      slept_to_the_bound = false;
      point();
      if :: fact_over != 0 || fact_dead != 0 || fact_idle != 0 -> op = act; goto again :: else -> goto stays fi }
  :: atomic { op == look && mine == 0 && !no_epoch && !needs_judging -> goto stays }
  fi;

stays:
  skip;
  atomic {
    if
    :: node_word[me] == 0 ->
      value = 0; predecessor = 0;
      if :: true -> op = enter; goto again :: cancels > 0 -> cancels--; goto over fi
    :: else
    fi;
#ifndef MISTAKE_NO_BIT
    if :: predecessor != 0 -> life_sleepers[predecessor] = true :: else fi;
#endif
    point()
  };
  atomic {
    if
    :: cancels > 0 -> cancels--; value = 0; predecessor = 0; op = leave; goto again
    :: futex[me] == value && (predecessor == 0 || !flagged[predecessor]) ->
      asleep[me] = in_line; watched[me] = predecessor; value = 0; predecessor = 0
    :: else -> value = 0; predecessor = 0; goto again
    fi
  };
  do
  :: atomic { asleep[me] != 0 && woken[me] -> asleep[me] = 0; woken[me] = false; watched[me] = 0; goto again }
  :: atomic { waits(me) && cancels > 0 -> cancels--; op = leave; asleep[me] = 0; watched[me] = 0; goto again }
  :: atomic { waits(me) && early > 0 ->
      early--; slept_to_the_bound = true; asleep[me] = 0; watched[me] = 0; goto again }
  :: atomic { waits(me) && key_is_due && excused && (tried & (1 << me)) == 0 ->
      tried = tried | (1 << me);
      slept_to_the_bound = true; asleep[me] = 0; watched[me] = 0; goto again }
  :: atomic { asleep[me] != 0 && deaths > 0 -> goto dying }
  :: atomic { asleep[me] != 0 && stops > 0 -> halt() }
  od;

dying:
  atomic { die() };  // what it had is left as it lay
over:
  atomic { finished[me] = true; forget() };
#if RESTARTS
end_over:
  false
  } unless { atomic { down && !again_up[me] -> again_up[me] = true; forget(); claims = 1; goto again } }
#endif
}

#if RESTARTS
// The machine loses its power. What was in memory is gone; a new table begins at the durable ceiling.
active proctype Machine() {
  d_step {
    down = true; excused = false; tried = 0;
    lock = 0; sleepers = false; entry = 0; arrivals = 0; disk_lock = 0;
    epoch = durable; ceiling = durable;
    r = 1;
    do
    :: r <= MEMBERS ->
      slot_word[r] = 0; slot_member[r] = 0; slot_epoch[r] = 0; slot_claim[r] = 0;
      line_first[r] = 0; line_last[r] = 0; grantee[r] = 0;
      node_word[r] = 0; node_slot[r] = 0; node_next[r] = 0; node_before[r] = 0; arrival[r] = 0; futex[r] = 0;
      passed[r] = false; abandoned[r] = false; flagged[r] = false; life_sleepers[r] = false; stopped[r] = false;
      asleep[r] = 0; woken[r] = false; watched[r] = 0; begun[r] = false; finished[r] = false; believes[r] = false;
      r++
    :: else -> break
    od;
    r = 0
  }
}
#endif

// Lets stopped members go on, or does not.
active proctype Continuer() {
end:
  do
  :: atomic { stopped[1] -> stopped[1] = false }
  :: atomic { stopped[2] -> stopped[2] = false }
#if MEMBERS == 3
  :: atomic { stopped[3] -> stopped[3] = false }
#endif
  od
}

// No lost wake-up. Without a stop no bound is ever needed; after one, whoever wakes at its bound does what is due, so
// that something is done at the latest when all have.
active proctype Watcher() {
end:
  atomic { key_is_due && somebody_waits && (!excused || all_tried) -> check_wake_up(false) }
}

init {
  atomic {
    begun[0] = true;
    durable = BLOCK; ceiling = BLOCK;
    run Member(1);
    run Member(2);
#if MEMBERS == 3
    run Member(3)
#endif
  }
}
