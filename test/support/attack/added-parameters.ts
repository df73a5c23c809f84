// Parameters that the holder of a presigned URL adds. Each selects another operation of the store, another version, or other headers of the response.

const PARAMETERS = [
  'tagging=',
  'tagging',
  'acl=',
  'attributes=',
  'uploads=',
  'uploadId=x',
  'partNumber=1',
  'partNumber=1&uploadId=x',
  'versionId=null',
  'versionId=x',
  'response-content-type=text%2Fhtml',
  'response-content-disposition=inline',
  'torrent=',
  'legal-hold=',
  'retention=',
  'policy=',
  'other=x',
]
const TAGS = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>'

interface PresignedRequest {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  url: string
  headers?: Record<string, string>
}

/** Sends the request once with each parameter. Returns the statuses other than 403, as text. */
export async function addParameters({ method, url, headers = {} }: PresignedRequest): Promise<string[]> {
  const others: string[] = []
  for (const parameter of PARAMETERS) {
    for (const body of method === 'PUT' ? ['picture', TAGS] : [null]) {
      const response = await fetch(`${url}&${parameter}`, { method, headers, body })
      const text = await response.text()
      if (response.status !== 403) others.push(`${method} ${parameter}: ${response.status} ${/<Code>(.*?)</.exec(text)?.[1] ?? ''}`)
    }
  }
  return others
}
