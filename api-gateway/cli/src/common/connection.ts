import { TintypeError } from '../../../client/src/index.ts'

/** The first error code of the system in a chain of causes: `ENOTFOUND`. */
export function systemCodeOf(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    const { code } = current as NodeJS.ErrnoException
    if (code !== undefined && !(current instanceof TintypeError)) return code
    // Node.js 26 gives this error no code.
    if (current.name === 'HTTPParserError') return 'HPE_INVALID'
  }
  return undefined
}

function messageOf(error: unknown): string {
  let message = String(error)
  for (let current = error; current instanceof Error; current = current.cause) message = current.message || message
  return message
}

const SILENT = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'UND_ERR_CONNECT_TIMEOUT'])
const isTlsError = (code: string): boolean => /CERT|SELF_SIGNED|UNABLE_TO_|TLS|SSL|EPROTO/.test(code)

/** Why no HTTP response came, and what to do. */
export function explainConnection(error: unknown, server: URL): string {
  const code = systemCodeOf(error) ?? ''
  const other = server.protocol === 'https:' ? 'http' : 'https'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `the name ${server.hostname} does not resolve. Check the spelling of the URL, and your DNS or VPN.`
  }
  if (code === 'ECONNREFUSED') {
    return `nothing accepts connections at ${server.host}. Check the port, and that the service or the port-forward runs.`
  }
  if (SILENT.has(code)) return `${server.host} does not respond. Check the host and the port, firewalls and your VPN.`
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return `${server.host} does not speak TLS. Use a URL that begins with http://.`
  }
  if (code === 'CERT_HAS_EXPIRED') return `the TLS certificate of ${server.host} has expired. Renew it.`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `the TLS certificate is not for ${server.hostname}. Use a host name of the certificate, or renew it with this name.`
  }
  if (isTlsError(code)) {
    return `the TLS certificate of ${server.host} is not trusted (${code}). Set NODE_EXTRA_CA_CERTS to the file of your CA, or install a trusted certificate.`
  }
  if (code.startsWith('HPE_') || code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') {
    return `${server.host} ended the connection without an HTTP response. Check the port, and whether the URL must begin with ${other}://.`
  }
  return `the connection to ${server.host} failed: ${messageOf(error)}. Check the URL.`
}
