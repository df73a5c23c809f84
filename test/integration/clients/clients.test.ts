import t from 'tap'
import { runPythonClient, runTypeScriptClient } from '../../clients/generate.ts'
import { GENERATED } from '../../clients/openapi-generator.ts'
import { isFullLength } from '../../support/length.ts'
import { startStage } from '../fuzz/stage.ts'

// Clients generated from the OpenAPI document of a gateway, and used against it. Those of openapi-generator take minutes, and need Java, Go and packages
// from the internet, so they run only at full length.

const stage = await startStage()
t.teardown(() => stage.stop())

for (const [generator, clients] of Object.entries({
  'our generators': { TypeScript: runTypeScriptClient, Python: runPythonClient },
  'openapi-generator': isFullLength ? GENERATED : {},
})) {
  for (const [language, runClient] of Object.entries(clients)) {
    t.test(`a client that ${generator} makes for ${language} compiles and works`, async (t) => {
      t.match(await runClient({ url: stage.gateway.url, key: stage.key }), `${language} client: all checks passed`)
    })
  }
}
