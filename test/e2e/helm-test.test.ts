import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { cluster, kubectl } from '../support/cluster/environment.ts'
import { NAMESPACE, STORE } from '../support/cluster/tested-release.ts'

// `helm test` reports whether the cluster enforces NetworkPolicies, which the local cluster may not. It must leave no pod and show no other
// error.

t.test('helm test prints the results of its pods and deletes the pods', { timeout: 300_000 }, async (t) => {
  const { stdout, stderr } = await promisify(execFile)('helm', ['test', 'tintype', '-n', NAMESPACE, '--timeout', '4m'], {
    env: cluster.shell,
  }).catch((error: { stdout: string; stderr: string }) => error)
  const output = stdout + stderr
  t.match(
    output,
    new RegExp(`^capture-runner: ${STORE}:9000 connected \\(must connect\\)`, 'm'),
    'the output contains the result of the first pod',
  )
  t.notMatch(output, /unable to get pod logs/)
  if (!/Phase: +Failed/.test(output)) t.match(output, /^stranger: /m, 'the output contains the result of the second pod')
  t.match(output, /Phase: +(Succeeded|Failed)/)
  const { stdout: pods } = await kubectl(['get', 'pods', '-o', 'name'])
  t.notMatch(pods, /network-test/)
})
