import t from 'tap'
import { findClusterProblem } from '../../bench/find-cluster.ts'
import { CAPTURE_PARTS, ENGINE_PARTS } from '../../bench/settings.ts'

const NO_CLUSTER = 'no cluster responds; run npm start first, or set TINTYPE_CLUSTER=current'
const responds = async (code: number) => ({ code, stdout: '', stderr: 'The connection to the server was refused' })

t.test('findClusterProblem is one line when kubectl fails', async (t) => {
  t.equal(await findClusterProblem(CAPTURE_PARTS, () => responds(1)), NO_CLUSTER)
})

t.test('findClusterProblem is one line when the cluster was never started', async (t) => {
  t.equal(await findClusterProblem(['hostile'], () => Promise.reject(new Error('.tintype/env is missing'))), NO_CLUSTER)
})

t.test('findClusterProblem is undefined when the API server is ready', async (t) => {
  t.equal(await findClusterProblem(['sequential'], () => responds(0)), undefined)
})

t.test('findClusterProblem does not call kubectl for parts that need no cluster', async (t) => {
  t.equal(await findClusterProblem(ENGINE_PARTS, () => Promise.reject(new Error('called'))), undefined)
})
