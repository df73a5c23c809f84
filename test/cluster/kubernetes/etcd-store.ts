/** Tells from etcd's log whether its store was damaged, so that it is not thrown away for any other reason. */

/** What etcd 3.6 says of a write-ahead log, snapshot or database that a crash left half written. */
const damage = /crc mismatch|unexpected fault address|unexpected EOF|invalid database|^panic:/m

/** These end etcd too, and throwing its store away would mend none of them. */
const otherCauses = /address already in use|no space left on device|permission denied|too many open files/

/** @param log of an etcd that has ended */
export function isStoreDamaged(log: string): boolean {
  return damage.test(log) && !otherCauses.test(log)
}
