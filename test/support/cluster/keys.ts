import { keyHash, newKeyText } from '@tintype/crds/crypto/api-keys'
import { API_VERSION, Label } from '@tintype/crds/identifiers/names'
import { requireKubectl } from './environment.ts'
import { NAMESPACE } from './tested-release.ts'

/** Only the operator and the gateway may set the label with the hash. */
const AS_OPERATOR = `--as=system:serviceaccount:${NAMESPACE}:tintype-operator`

/** Creates an ApiKey of an account and returns its text. The caller must delete it. */
export async function createApiKey(name: string, accountName: string): Promise<string> {
  const text = newKeyText()
  const metadata = { name, labels: { [Label.keyHash1]: keyHash(text) } }
  const object = { apiVersion: API_VERSION, kind: 'ApiKey', metadata, spec: { accountName, lastFour: text.slice(-4) } }
  await requireKubectl(['create', '-f', '-', AS_OPERATOR], JSON.stringify(object))
  return text
}
