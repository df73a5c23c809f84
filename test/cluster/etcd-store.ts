/** Tells from etcd's log whether its store was damaged, so that it is not thrown away for any other reason. */

/** What etcd 3.4 and 3.5 say of a write-ahead log, snapshot or database that a crash left half written. */
const damage =
  /crc mismatch|unexpected fault address|^panic:|unexpected EOF|file (?:is )?corrupt|invalid database|page \d+ already freed|wal: |snap: /m

/** These end etcd too, and throwing its store away would mend none of them. */
const otherCauses = /address already in use|no space left on device|permission denied|too many open files/

/** @param log of an etcd that has ended */
export function isStoreDamaged(log: string): boolean {
  return damage.test(log) && !otherCauses.test(log)
}
