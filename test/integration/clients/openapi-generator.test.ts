import t from 'tap'
import { GENERATED } from '../../clients/openapi-generator.ts'
import { isFullLength } from '../../support/length.ts'
import { startStage } from '../fuzz/stage.ts'

// Clients of openapi-generator, made from the OpenAPI document of a gateway and used against it. Only at full length: it takes minutes, and needs Java,
// Go and packages from the internet.

if (isFullLength) {
  const stage = await startStage()
  t.teardown(() => stage.stop())
  for (const [language, runClient] of Object.entries(GENERATED)) {
    t.test(`a client that openapi-generator makes for ${language} compiles and works`, async (t) => {
      t.match(await runClient({ url: stage.gateway.url, key: stage.key }), `${language} client: all checks passed`)
    })
  }
} else t.pass('runs in `npm run soak -- nightly`')
