import { screenshots } from '../../../crds/client/kinds.ts'
import type { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Reflector } from '../../../crds/client/reflector.ts'
import { isFinished, type Screenshot } from '../../../crds/src/kinds/screenshot.ts'

/** Watches all Screenshots during a fault: a finished Screenshot must not change its phase. */
export interface EndsOnce {
  faults: string[]
  stop: () => Promise<void>
}

const endOf = ({ status }: Screenshot): string =>
  JSON.stringify([status?.phase, status?.attempt, status?.completionTime, status?.runner?.uid, status?.result?.etag])

/** Starts watching. */
export async function watchEnds(http: KubeHttp): Promise<EndsOnce> {
  const reflector = new Reflector<Screenshot>({ http, resource: screenshots })
  const faults: string[] = []
  reflector.addListener(({ type, object, old }) => {
    if (type === 'deleted' || !old || !isFinished(old) || old.metadata.uid !== object.metadata.uid) return
    if (endOf(old) !== endOf(object)) faults.push(`${object.metadata.name} ended as ${endOf(old)} and then as ${endOf(object)}`)
  })
  reflector.start()
  await reflector.whenSynced()
  return { faults, stop: () => reflector.stop() }
}
