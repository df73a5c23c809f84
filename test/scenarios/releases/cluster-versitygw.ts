import { formatDuration } from '../../cluster/host/steps.ts'
import { clusterStage } from '../cluster/stage/cluster-objects.ts'
import { scenario } from '../harness/scenario.ts'
import { capturePage, installLocal, testEndToEnd } from './stage/local-release.ts'
import { CHART, imageOptions } from './stage/running-release.ts'
import { isPng } from './stage/trial-release.ts'

/** The end-to-end tests, conformance and chaos among them, on the second bundled store. `npm test` runs them on MinIO. */
export const clusterVersitygw = scenario({
  name: 'cluster-versitygw',
  shows: 'a release with versitygw as its store passes the end-to-end tests',
  stage: clusterStage,
  run: async ({ ends, ...report }) => {
    report.progress('helm install')
    const installation = { namespace: 'tintype-versitygw', chart: CHART, options: await imageOptions(), store: 'versitygw' } as const
    const release = await installLocal(ends, installation)
    const picture = await capturePage(release)
    const time = formatDuration(performance.now() - release.began)
    report.holds('helm install leads to a picture', isPng(picture), `${picture.length} bytes after ${time}`)
    await testEndToEnd(release, report)
  },
})
