import { existsSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { screenshots } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { serveLanes } from '../../support/lanes/lane-servers.ts'
import { openTestPlane, type TestPlane } from '../../support/processes/own-plane.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'

// Two test files of a lane, one after the other, on the API server of the lane.

const root = path.join(t.testdir(), 'lanes')
const end = await serveLanes(root)

async function createIn(plane: TestPlane): Promise<string[]> {
  const http = new KubeHttp(await accessPlane(plane.kubeconfigPath))
  const shots = new Resource(http, screenshots)
  await shots.create({ metadata: { name: 'same-name' }, spec: { url: 'https://example.com/' } })
  const names = (await shots.listAll()).map(({ metadata }) => metadata.name)
  await http.close()
  return names
}

t.test('the files of a lane share an API server, and see only their own objects', async (t) => {
  const first = await openTestPlane()
  t.strictSame(await createIn(first), ['same-name'])
  await first.stop()
  t.notOk(existsSync(first.directory), 'a file removes its own directory')
  const second = await openTestPlane()
  t.teardown(second.stop)
  t.equal(second.url, first.url)
  t.strictSame(await createIn(second), ['same-name'])
  await t.rejects(second.restart(), { message: /shared with other test files\. Pass `own: true`/ })
})

t.test('at the end, the servers of the lanes have ended and their files are gone', async (t) => {
  const { url, stop } = await openTestPlane()
  await stop()
  await end()
  await t.rejects(fetch(`${url}/readyz`), { cause: { code: 'ECONNREFUSED' } })
  t.notOk(existsSync(root))
})
