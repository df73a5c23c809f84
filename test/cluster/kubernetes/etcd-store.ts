/** Detects a damaged store in etcd's log. The store must not be deleted for any other reason. */

/** Messages of etcd 3.6 about a write-ahead log, snapshot or database that a crash left incomplete. */
const damage = /crc mismatch|unexpected fault address|unexpected EOF|invalid database|^panic:/m

/** Other errors that end etcd. Deleting the store would fix none of them. */
const otherCauses = /address already in use|no space left on device|permission denied|too many open files/

/** @param log log of an etcd that has ended */
export function isStoreDamaged(log: string): boolean {
  return damage.test(log) && !otherCauses.test(log)
}
