import type { PostRequests } from '../../../api-gateway/src/store/ports.ts'
import type { PostResponse } from '../../../crds/src/kinds/post-response.ts'
import type { Webhook } from '../../../crds/src/kinds/webhook.ts'
import type { RequestedPost } from '../../../crds/src/webhooks/webhook-requests.ts'

/** An operator that records requests for posts and returns the response that the test sets. Without one it is unavailable. */
export class FakePostRequests implements PostRequests {
  readonly posts: { webhook: string; post: RequestedPost }[] = []
  response: PostResponse | undefined

  async ask({ metadata }: Webhook, post: RequestedPost): Promise<void> {
    this.posts.push({ webhook: metadata.name, post })
  }
  async askAndWait(webhook: Webhook, post: RequestedPost): Promise<PostResponse | undefined> {
    await this.ask(webhook, post)
    return this.response
  }
}
