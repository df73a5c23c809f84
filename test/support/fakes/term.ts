import type { KubeHttp } from '../../../crds/client/kube-http.ts'
import type { Term } from '../../../operator/src/runtime/deps.ts'
import { MemoryBucket } from './memory-bucket.ts'

type Given = Partial<Omit<Term, 'http' | 'mayStart' | 'storage'>> & { http: KubeHttp; storage?: Partial<Term['storage']> }

/** A term of leadership that lasts until `signal` is aborted, with a bucket in memory. `mayWrite` fences its writes to the API server. */
export function aTerm({
  http,
  signal = new AbortController().signal,
  mayWrite = () => true,
  storage = new MemoryBucket().storage,
  ...given
}: Given): Term {
  return {
    signal,
    mayWrite,
    mayStart: () => !signal.aborted,
    http: http.fenced(mayWrite),
    storage: storage as Term['storage'],
    events: { warn() {}, normal() {} },
    ...given,
  }
}
