import t from 'tap'
import { isStoreDamaged } from '../../cluster/etcd-store.ts'

const damaged = {
  'a broken write-ahead log': 'etcdserver: starting\n2026-11-21 11:55:38.048785 C | etcdmain: walpb: crc mismatch\n',
  'an empty write-ahead log': 'panic: runtime error: invalid memory address or nil pointer dereference\n\ngoroutine 1 [running]:\n',
  'a database that is cut short': 'unexpected fault address 0x7f8e8c018000\nfatal error: fault\n',
  'a database without its head': 'panic: assertion failed: Page expected to be: 1, but self identifies as 0\n',
}
for (const [what, log] of Object.entries(damaged)) t.test(`isStoreDamaged knows ${what}`, async (t) => t.equal(isStoreDamaged(log), true))

const others = {
  'a taken port': 'C | etcdmain: listen tcp 127.0.0.1:2379: bind: address already in use\n',
  'a full disk': 'wal: write error\nC | etcdserver: create wal error: no space left on device\n',
  'an orderly end': 'N | pkg/osutil: received terminated signal, shutting down...\n',
  'an empty log': '',
}
for (const [what, log] of Object.entries(others))
  t.test(`isStoreDamaged does not take ${what} for damage`, async (t) => t.equal(isStoreDamaged(log), false))
