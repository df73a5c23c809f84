import t from 'tap'
import { isStoreDamaged } from '../../cluster/kubernetes/etcd-store.ts'

const damaged = {
  'a broken write-ahead log':
    '{"level":"fatal","msg":"discovery failed","error":"walpb: crc mismatch: expected: 3b0c0771 computed: a9a6bb7d"}\n',
  'an empty write-ahead log': '{"level":"info","msg":"starting an etcd server"}\npanic: cannot use none as id\n\ngoroutine 1 [running]:\n',
  'a truncated database': 'unexpected fault address 0x7f8e8c018000\nfatal error: fault\n',
  'a database without valid meta pages':
    '{"level":"error","logger":"bbolt","msg":"both meta pages are invalid, meta0: invalid database, meta1: invalid database"}\n',
}
for (const [what, log] of Object.entries(damaged)) t.test(`isStoreDamaged detects ${what}`, async (t) => t.equal(isStoreDamaged(log), true))

const others = {
  'a taken port': '{"level":"fatal","msg":"discovery failed","error":"listen tcp 127.0.0.1:2379: bind: address already in use"}\n',
  'a full disk': 'panic: write /store/member/wal/0.wal: no space left on device\n',
  'a regular shutdown': '{"level":"info","msg":"received signal; shutting down","initial-corrupt-check":false,"signal":"terminated"}\n',
  'an empty log': '',
}
for (const [what, log] of Object.entries(others))
  t.test(`isStoreDamaged is false for ${what}`, async (t) => t.equal(isStoreDamaged(log), false))
