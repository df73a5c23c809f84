import t from 'tap'
import { runPythonClient } from '../clients/generate.ts'
import { cluster } from '../support/cluster/environment.ts'

// The document of a deployed gateway. test/integration/clients/clients.test.ts also generates a client in TypeScript.

const service = { url: cluster.url, key: cluster.apiKey }

t.test('a Python client generated from the deployed document works', async (t) => {
  t.match(await runPythonClient(service), 'Python client: all checks passed')
})
