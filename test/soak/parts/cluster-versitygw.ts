import { formatDuration } from '../../cluster/host/steps.ts'
import { holds, type Part } from '../part.ts'
import { capturePage, isPng, testEndToEnd, withLocalRelease } from '../stage/local-release.ts'
import { CHART, imageOptions } from '../stage/running-images.ts'

/** The end-to-end tests, conformance and chaos among them, on the second bundled store. `npm test` runs them on MinIO. */
export const clusterVersitygw: Part = {
  name: 'cluster-versitygw',
  shows: 'a release with versitygw as its store passes the end-to-end tests',
  run: async ({ progress }) => {
    const installation = { namespace: 'tintype-versitygw', chart: CHART, options: await imageOptions(), store: 'versitygw' } as const
    progress('helm install')
    return withLocalRelease(installation, async (release) => {
      const picture = await capturePage(release)
      const time = formatDuration(performance.now() - release.began)
      progress('end-to-end tests')
      const findings = [
        holds('helm install leads to a picture', isPng(picture), `${picture.length} bytes after ${time}`),
        await testEndToEnd(release, progress),
      ]
      return { findings }
    })
  },
}
