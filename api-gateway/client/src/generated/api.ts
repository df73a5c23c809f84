// Generated from the OpenAPI document of the gateway by `npm run generate`. Do not edit.

export interface paths {
    "/listScreenshots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listScreenshots"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/getScreenshot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getScreenshot"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/listVideos": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listVideos"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/getVideo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getVideo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/takePicture": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["takePicture"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/listSchedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSchedules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/listScheduleRuns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listScheduleRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/listWebhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/listDeliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/listKeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ApiKey: {
            /** @description Key id, prefix key_. */
            id: string;
            name: string;
            /** @description Prefix of all keys. */
            key_prefix: string;
            /** @description Last four characters of the text, to distinguish keys. */
            last_four: string | null;
            scopes: ("*" | "screenshots:read" | "screenshots:write" | "webhooks:read" | "webhooks:write" | "schedules:read" | "schedules:write" | "keys:read" | "keys:write" | "usage:read" | "admin:read")[];
            is_active: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            expires_at: string | null;
            /** @description Last use, accurate to ten minutes. */
            last_used_at: string | null;
            /** @description Until when the text before the last rotation is valid. */
            previous_key_expires_at: string | null;
            /** @description Limits of the signed links of the key. Null: none. */
            link_policy: components["schemas"]["LinkPolicy"] | null;
            /** @description Limits of the captures of the key. Null: none. */
            capture_policy: components["schemas"]["CapturePolicy"] | null;
        };
        /** @description The updated key. */
        ApiKeyChanged: {
            message: string;
            data: components["schemas"]["ApiKey"];
        };
        /** @description The created key. */
        ApiKeyCreated: {
            message: string;
            /** @description An API key with its text. Only the first response contains the text, a replayed response does not. */
            data: {
                /** @description Key id, prefix key_. */
                id: string;
                name: string;
                /** @description Prefix of all keys. */
                key_prefix: string;
                /** @description Last four characters of the text, to distinguish keys. */
                last_four: string | null;
                scopes: ("*" | "screenshots:read" | "screenshots:write" | "webhooks:read" | "webhooks:write" | "schedules:read" | "schedules:write" | "keys:read" | "keys:write" | "usage:read" | "admin:read")[];
                is_active: boolean;
                /** Format: date-time */
                created_at: string;
                /** Format: date-time */
                updated_at: string;
                expires_at: string | null;
                /** @description Last use, accurate to ten minutes. */
                last_used_at: string | null;
                /** @description Until when the text before the last rotation is valid. */
                previous_key_expires_at: string | null;
                /** @description Limits of the signed links of the key. Null: none. */
                link_policy: components["schemas"]["LinkPolicy"] | null;
                /** @description Limits of the captures of the key. Null: none. */
                capture_policy: components["schemas"]["CapturePolicy"] | null;
                /** @description The text of the key. It is shown only once. */
                key?: string;
            };
        };
        /** @description One key. */
        ApiKeyFound: {
            success: boolean;
            data: components["schemas"]["ApiKey"];
        };
        /** @description One page of keys, oldest first. */
        ApiKeyList: {
            success: boolean;
            data: components["schemas"]["ApiKey"][];
            pagination: {
                limit: number;
                offset: number;
                /** @description Total number of records. */
                total: number;
                has_more: boolean;
            };
        };
        /** @description The rotated key. */
        ApiKeyRotated: {
            message: string;
            data: {
                /** @description Key id, prefix key_. */
                id: string;
                name: string;
                /** @description Prefix of all keys. */
                key_prefix: string;
                /** @description Last four characters of the text, to distinguish keys. */
                last_four: string | null;
                scopes: ("*" | "screenshots:read" | "screenshots:write" | "webhooks:read" | "webhooks:write" | "schedules:read" | "schedules:write" | "keys:read" | "keys:write" | "usage:read" | "admin:read")[];
                is_active: boolean;
                /** Format: date-time */
                created_at: string;
                /** Format: date-time */
                updated_at: string;
                expires_at: string | null;
                /** @description Last use, accurate to ten minutes. */
                last_used_at: string | null;
                /** @description Until when the text before the last rotation is valid. */
                previous_key_expires_at: string | null;
                /** @description Limits of the signed links of the key. Null: none. */
                link_policy: components["schemas"]["LinkPolicy"] | null;
                /** @description Limits of the captures of the key. Null: none. */
                capture_policy: components["schemas"]["CapturePolicy"] | null;
                /** @description The text of the key. It is shown only once. */
                key: string;
            };
        };
        /** @description The approval that is undone. */
        ApprovalUndone: {
            message: string;
            data: {
                /** @description Id of the run whose approval is undone. */
                run_id: string;
                baseline_run: string | null;
            };
        };
        /** @description The run to approve. */
        ApproveRun: {
            /** @description Id of the run. Default: latest, the last compared one. */
            run_id?: string | "latest";
        };
        /** @description A batch and its screenshots. */
        Batch: {
            success: boolean;
            data: {
                /** @description Id of the batch. */
                batch_id: string;
                /**
                 * Format: date-time
                 * @description Time at which the request was accepted.
                 */
                created_at: string;
                /** @description Number of screenshots. */
                total: number;
                /** @description Number of unfinished screenshots. */
                pending: number;
                /** @description Number of completed screenshots. */
                completed: number;
                /** @description Number of failed screenshots. */
                failed: number;
                /** @description Records in the order of the request. */
                screenshots: components["schemas"]["Screenshot"][];
            };
        };
        /**
         * @description Why a capture failed.
         *
         *     - `TIMEOUT`: Raise options.timeout, wait for less with options.wait_until, or check that the page loads. The message says which step took too long.
         *     - `NAVIGATION_FAILED`: Check that the URL responds from the internet; the message says how the connection ended.
         *     - `DNS_FAILED`: Check the host name and its DNS records.
         *     - `BLOCKED_ADDRESS`: Use a public URL: the host name is internal, or its IP address is private or denied. An administrator can allow it for the RunnerPool.
         *     - `URL_NOT_ALLOWED`: Capture a URL that the capture policy of the API key allows, or change the field of the policy that the message names.
         *     - `PROXY_FAILED`: Check the proxy’s URL, user name and password, and that the proxy can reach the page.
         *     - `TLS_ERROR`: Fix the site’s certificate; the message names the problem. An administrator can trust a private authority for the RunnerPool.
         *     - `INVALID_SELECTOR`: Correct the CSS selector: the browser cannot read it. The message names the option and its value.
         *     - `INVALID_SCRIPT`: Correct the syntax error in the script. The message names the option and the error.
         *     - `SELECTOR_NOT_FOUND`: Check that the page has an element for the selector in the message, for example of wait_for_selector, click or hover.
         *     - `PAGE_CRASHED`: Capture a smaller part of the page: it used more memory than a runner has, or crashed the browser. An administrator can raise the memory of the RunnerPool.
         *     - `HTTP_ERROR`: Check the page, or change options.fail_on_status: the page returned an HTTP status that this option lists.
         *     - `TOO_LARGE`: Lower viewport_width, viewport_height, device_scale_factor, full_page_max_height, image_width or image_height, or set format to jpeg. The message gives the limit.
         *     - `UNSUPPORTED_CONTENT`: Read the message, which gives the reason. If the URL returns a file that the browser cannot show, download it yourself.
         *     - `TOO_MANY_REDIRECTS`: Use the final URL of the page: it redirects too often.
         *     - `SCRIPT_ERROR`: Correct options.scripts or script_urls, or set fail_on_script_error or fail_on_page_error to false. The message contains the script’s error.
         *     - `BLANK_PAGE`: Wait longer with options.wait_for_selector or options.delay, or set options.blank_page_action to accept: the picture shows one color and almost nothing else.
         *     - `BOT_CHALLENGE`: Try options.cookies or options.proxy, or leave options.fail_on_bot_challenge out: the site detected automation.
         *     - `CONTENT_RULE`: Check the page, or change the fail_if_… option or fail_on_redirect: the page breaks the rule in the message.
         *     - `BASELINE_NOT_FOUND`: Set options.compare_to to a completed screenshot whose file still exists, or leave it out. The message gives the reason.
         *     - `STORAGE_FAILED`: Create the screenshot again later: Tintype could not store the file.
         *     - `COPY_FAILED`: Check the storage_… options and the permissions of the access key. The message contains the response of your store.
         *     - `USAGE_LIMIT_REACHED`: Wait for the next month, or ask an administrator for a larger plan: the monthly quota is used up.
         *     - `POOL_NOT_FOUND`: Ask an administrator of this service to create the RunnerPool that the message names, then create the screenshot again.
         *     - `VIDEO_UNAVAILABLE`: Ask an administrator of this service for a RunnerPool that records videos: spec.video is true, and its image has ffmpeg. The message names the problem.
         *     - `ACCOUNT_NOT_FOUND`: Correct spec.accountName, or ask an administrator to create the Account. Only a Screenshot created with kubectl fails with this code.
         *     - `QUEUE_FULL`: Create the Screenshot again when fewer screenshots wait for a runner. Only a Screenshot created with kubectl fails with this code.
         *     - `INVALID_OPTIONS`: Correct the options that the message names, and create the screenshot again.
         *     - `OPTION_NOT_ALLOWED`: Leave out the options that the message names: this service does not allow them.
         *     - `ACCOUNT_SUSPENDED`: Ask an administrator of this service to end the suspension of the account.
         *     - `CANCELLED`: Ask an administrator of this service to create the account again, then create the screenshot again: the account was deleted before the capture started.
         *     - `RESOURCE_LIMIT`: Block requests with options such as block_ads or block_resources: the limit is 10,000 requests and 512 MiB per capture.
         *     - `INTERNAL_ERROR`: Create the screenshot again. If it fails again, report its id to an administrator of this service.
         */
        CaptureError: {
            /**
             * @description For programs.
             * @enum {string}
             */
            code: "TIMEOUT" | "NAVIGATION_FAILED" | "DNS_FAILED" | "BLOCKED_ADDRESS" | "URL_NOT_ALLOWED" | "PROXY_FAILED" | "TLS_ERROR" | "INVALID_SELECTOR" | "INVALID_SCRIPT" | "SELECTOR_NOT_FOUND" | "PAGE_CRASHED" | "HTTP_ERROR" | "TOO_LARGE" | "UNSUPPORTED_CONTENT" | "TOO_MANY_REDIRECTS" | "SCRIPT_ERROR" | "BLANK_PAGE" | "BOT_CHALLENGE" | "CONTENT_RULE" | "BASELINE_NOT_FOUND" | "STORAGE_FAILED" | "COPY_FAILED" | "USAGE_LIMIT_REACHED" | "POOL_NOT_FOUND" | "VIDEO_UNAVAILABLE" | "ACCOUNT_NOT_FOUND" | "QUEUE_FULL" | "INVALID_OPTIONS" | "OPTION_NOT_ALLOWED" | "ACCOUNT_SUSPENDED" | "CANCELLED" | "RESOURCE_LIMIT" | "INTERNAL_ERROR";
            /** @description For people. */
            message: string;
        };
        /** @description Limits of the captures of a key. */
        CapturePolicy: {
            /** @description Hosts of the page and its frames, after redirects too; *.example.com stands for all subdomains. Null: all. An empty list: none. */
            allowed_hosts: string[] | null;
            /** @description Hosts of all requests of the page, such as images and scripts; also of URLs in options. Null: all. An empty list: none. */
            allowed_request_hosts: string[] | null;
            /** @description Names of options that captures may have. Null: all. An empty list: none. */
            allowed_options: string[] | null;
            /** @description Whether captures may have what can show anything under the name of an allowed host: own markup such as html and styles, scripts, an own proxy, and ignore_https_errors. Null: only if allowed_hosts is null. */
            allow_own_content: boolean | null;
        };
        /** @description Limits of the captures of the key. They do not limit what the key reads. */
        CapturePolicyRequest: {
            /** @description Hosts of the page and its frames, after redirects too; *.example.com stands for all subdomains. Null: all. An empty list: none. */
            allowed_hosts?: string[] | null;
            /** @description Hosts of all requests of the page, such as images and scripts; also of URLs in options. Null: all. An empty list: none. */
            allowed_request_hosts?: string[] | null;
            /** @description Names of options that captures may have. Null: all. An empty list: none. */
            allowed_options?: string[] | null;
            /** @description Whether captures may have what can show anything under the name of an allowed host: own markup such as html and styles, scripts, an own proxy, and ignore_https_errors. Null: only if allowed_hosts is null. */
            allow_own_content?: boolean | null;
        };
        /** @description A URL to test. */
        CheckKeyUrl: {
            /**
             * Format: uri
             * @description URL of a page, http or https.
             */
            url: string;
        };
        /** @description Pages to capture with the same options. One invalid URL rejects the whole batch. */
        CreateBatch: {
            /** @description URLs of the pages, 1 to 100. */
            urls: string[];
            /** @description Capture options for all pages. */
            options?: {
                /** @description Width of the viewport in CSS pixels, 1 to 7680. Default: 1920. */
                viewport_width?: number;
                /** @description Height of the viewport in CSS pixels, 1 to 7680. Default: 1080. */
                viewport_height?: number;
                /** @description Device pixels per CSS pixel, 0.1 to 5. Default: 1. */
                device_scale_factor?: number;
                /** @description Device to emulate: its viewport, pixel ratio, touch and user agent. Other options override these. Default: none. */
                device?: string;
                /** @description Sets the CSS media feature prefers-color-scheme to dark. Default: false. */
                dark_mode?: boolean;
                /** @description The page as HTML, instead of url, 1 to 2097152 characters. The browser still loads its resources from the network. Default: none. */
                html?: string;
                /** @description The page as Markdown, instead of url, 1 to 1048576 characters. It is rendered on a white background, with tables, task lists, and headings whose ids are those of GitHub. HTML in it is shown as text. Default: none. */
                markdown?: string;
                /** @description Base URL of html or markdown for relative links, http or https. Default: none. */
                html_base_url?: string;
                /** @description URL in the header Referer of the page’s request, http or https. Default: none. */
                referer?: string;
                /** @description Blocks every request of html or markdown, so that only inline content is shown. Default: false. */
                offline?: boolean;
                /** @description User agent that servers and scripts see, at most 1024 characters. Client hints match it, and service workers are blocked. Default: the device’s, else the browser’s own. */
                user_agent?: string;
                /** @description Platform that scripts and client hints report, such as Win32, MacIntel or Linux x86_64, at most 64 characters. Workers report the browser’s own. Default: the platform that matches user_agent. */
                user_agent_platform?: string;
                /** @description Header Accept-Language of every request, at most 256 characters; does not change locale. Default: derived from locale. */
                accept_language?: string;
                /**
                 * @description Which requests carry headers and authorization: same_origin for the page’s own origin, same_site for hosts of its site, all for every request, also to third parties. Default: same_origin.
                 * @enum {string}
                 */
                headers_scope?: "same_origin" | "same_site" | "all";
                /** @description URL of the proxy for the page’s traffic: http, https or socks5, with host and port. A user name and password in it become proxy_username and proxy_password. Default: none. */
                proxy?: string;
                /** @description Hosts to reach without the proxy, at most 50; *.example.com matches all subdomains. Default: none. */
                proxy_bypass?: string[];
                /** @description Accepts invalid TLS certificates. Default: false. */
                ignore_https_errors?: boolean;
                /**
                 * @description HTTP cache: batch shares scripts, style sheets, fonts and images among the captures of one batch; off requests them again for each capture. The cache stores only fresh responses to requests without cookies or credentials. No effect outside a batch. Default: batch.
                 * @enum {string}
                 */
                http_cache?: "off" | "batch";
                /** @description Latitude of the emulated geolocation in degrees, -90 to 90. Default: none, geolocation is denied. */
                geolocation_latitude?: number;
                /** @description Longitude of the emulated geolocation in degrees, -180 to 180. Default: none. */
                geolocation_longitude?: number;
                /** @description Accuracy of the emulated geolocation in meters, 0 to 100000. Default: 0. */
                geolocation_accuracy?: number;
                /** @description IANA time zone of the page, such as Europe/Vienna, in capital or small letters. Default: UTC. */
                timezone?: string;
                /** @description Language and region of the page as a BCP 47 tag, such as de-AT. Sets the formats of scripts, navigator.language and Accept-Language. What the browser draws by itself stays American English: form fields for dates, times, months, weeks, numbers and files, buttons without a label, and validation messages. The lang attribute of the page decides the forms of Han letters; without it they are those of simplified Chinese. Default: en-US. */
                locale?: string;
                /** @description Time at which the clock of each document starts when it loads, ISO 8601 with a zone, 1990 to 2100. A day alone begins at 00:00 UTC. It runs on, so that delayed work of the page happens. A pdf has this time as its date. Default: none, the clock is the real one. */
                fixed_time?: string;
                /** @description Lays the page out as a phone does: honors its viewport tag and overlays scroll bars. Default: the device’s, else false. */
                viewport_mobile?: boolean;
                /** @description Reports a touch screen to the page. Default: the device’s, else false. */
                viewport_has_touch?: boolean;
                /** @description Makes the longer side of the window its width. Default: false. */
                viewport_landscape?: boolean;
                /**
                 * @description CSS media type: screen or print. Default: screen, and print for a pdf.
                 * @enum {string}
                 */
                media_type?: "screen" | "print";
                /** @description Sets the CSS media feature prefers-reduced-motion to reduce. Default: false. */
                reduced_motion?: boolean;
                /** @description Replaces the page’s colors with a few high-contrast colors. Default: false. */
                forced_colors?: boolean;
                /**
                 * @description CSS media feature prefers-contrast: no_preference, more or less. Default: no_preference.
                 * @enum {string}
                 */
                prefers_contrast?: "no_preference" | "more" | "less";
                /** @description Other CSS media features by name, such as color-gamut: p3, at most 20. Default: none. */
                media_features?: {
                    [key: string]: string;
                };
                /** @description Darkens pages that have no dark color scheme. Default: false. */
                dark_mode_force?: boolean;
                /** @description Runs the page’s scripts. Scripts in these options run in either case. Default: true. */
                javascript_enabled?: boolean;
                /** @description Disables the page’s Content-Security-Policy, so that scripts can add blocked content. Default: false. */
                bypass_csp?: boolean;
                /** @description Zoom of the browser, 0.25 to 5: the window has fewer and larger CSS pixels, so media queries and vh follow. The picture has the same size in pixels. For a pdf, magnifies the page. Default: 1. */
                page_zoom?: number;
                /** @description CSS to add to the page, at most 262144 characters. Default: none. */
                styles?: string;
                /** @description JavaScript to run in the page after it has loaded, at most 262144 characters. If javascript_enabled is false, its timers never fire. Default: none. */
                scripts?: string;
                /** @description CSS selector of an element to click before the picture is taken. A new tab that it opens replaces the page. Default: none. */
                click?: string;
                /** @description JavaScript to run in every frame before the page’s own scripts, at most 262144 characters. Default: none. */
                init_script?: string;
                /** @description States to wait for again after scripts, if scripts change the page or navigate: load, domcontentloaded, networkidle. Default: none. */
                scripts_wait_until?: ("load" | "domcontentloaded" | "networkidle")[];
                /** @description URLs of scripts to run in the page after it has loaded, at most 10. Default: none. */
                script_urls?: string[];
                /** @description URLs of style sheets to add to the page, at most 10. Default: none. */
                style_urls?: string[];
                /** @description CSS selectors of elements to remove from the layout, at most 100. Default: none. */
                hide_selectors?: string[];
                /** @description Applies hide_selectors inside shadow roots and frames too. All other options search them always. Default: false. */
                include_shadow_dom?: boolean;
                /** @description CSS selectors of elements to cover with a box of one color, such as private or changing content, at most 50. Their content is in no file except HAR, MHTML and console messages. In a pdf, the elements are left blank instead. Default: none. */
                mask_selectors?: string[];
                /** @description CSS color of the boxes of mask_selectors. Default: #ff00ff. */
                mask_color?: string;
                /** @description Fails the capture if click matches no element; if false, the record has a warning. Default: true. */
                error_on_click_selector_not_found?: boolean;
                /** @description CSS selector of elements to click one after the other, at most 50. Default: none. */
                click_all?: string;
                /** @description CSS selector of an element to hover over while the picture is taken. Default: none. */
                hover?: string;
                /** @description Fails the capture if hover matches no element; if false, the record has a warning. Default: true. */
                error_on_hover_selector_not_found?: boolean;
                /** @description Key to press after the page has loaded, such as Escape, Enter, PageDown or Control+A. Default: none. */
                press_key?: string;
                /** @description CSS selector of an element to scroll to before the picture is taken. Default: none. */
                scroll_into_view?: string;
                /** @description CSS pixels to scroll additionally after scroll_into_view, -10000 to 10000. Default: 0. */
                scroll_into_view_adjust_top?: number;
                /** @description Horizontal scroll position in CSS pixels, 0 to 50000. Default: 0. */
                scroll_x?: number;
                /** @description Vertical scroll position in CSS pixels, 0 to 50000. Default: 0. */
                scroll_y?: number;
                /** @description Stops animations and transitions of CSS, and animations of SVG elements, before the picture is taken: finite ones show their last frame, infinite ones their first. Animated image files go on. Default: false. */
                disable_animations?: boolean;
                /** @description Stops audio, and stops videos at their first frame. Default: false. */
                pause_videos?: boolean;
                /** @description Blocks advertisements. Default: false. */
                block_ads?: boolean;
                /** @description Blocks analytics scripts and other trackers. Default: false. */
                block_trackers?: boolean;
                /** @description Responds to cookie consent banners, and hides the banners that it cannot respond to. Default: false. */
                block_cookie_banners?: boolean;
                /**
                 * @description What block_cookie_banners does: opt_out rejects cookies, opt_in accepts them, hide only hides the banner. Default: opt_out.
                 * @enum {string}
                 */
                cookie_banner_action?: "opt_out" | "opt_in" | "hide";
                /** @description Hides elements that look like banners or overlays, even if no filter list has them. Default: false. */
                block_banners_by_heuristics?: boolean;
                /** @description Blocks chat widgets and similar helpers. Default: false. */
                block_chats?: boolean;
                /** @description Blocks buttons and embedded posts of social networks. Default: false. */
                block_socials?: boolean;
                /** @description Blocks newsletter pop-ups, app banners, notification requests and similar annoyances. Default: false. */
                block_annoyances?: boolean;
                /** @description URL patterns of requests to block, at most 100; * matches any text, as in *://*.example.com/*. Default: none. */
                block_requests?: string[];
                /** @description Types of requests to block: document (frames), stylesheet, image, media, font, script, texttrack, xhr, fetch, eventsource, websocket, manifest, other. The browser does not distinguish xhr from fetch. Default: none. */
                block_resources?: ("document" | "stylesheet" | "image" | "media" | "font" | "script" | "texttrack" | "xhr" | "fetch" | "eventsource" | "websocket" | "manifest" | "other")[];
                /** @description URL patterns of requests that no other option blocks, at most 100; * matches any text. Default: none. */
                allow_requests?: string[];
                /** @description Blocks every request to a site other than the page’s own. Default: false. */
                block_third_party?: boolean;
                /** @description Blocks service workers. Always on when another option filters requests. Default: false. */
                block_service_workers?: boolean;
                /** @description Milliseconds to wait before the picture is taken, 0 to 60000. Default: 0. */
                delay?: number;
                /** @description Maximum time for the page to load in milliseconds, 1000 to 180000. Default: 30000. */
                timeout?: number;
                /** @description CSS selector of an element to wait for before the picture is taken. Default: none. */
                wait_for_selector?: string;
                /** @description States to wait for within timeout: load, domcontentloaded, networkidle, commit. All must be reached. Default: load. */
                wait_until?: ("load" | "domcontentloaded" | "networkidle" | "commit")[];
                /** @description Maximum time for a whole attempt in milliseconds, 5000 to 600000. Default: the sum of the other time limits. */
                job_timeout?: number;
                /** @description Maximum time for taking the picture or recording the video, and for comparing it, in milliseconds, 1000 to 600000. Default: 30000, with full_page 2 more for each pixel of full_page_max_height, at most 120000; for a video 200 more for each frame, and in proportion more above 1920 × 1080, at most 600000. */
                capture_timeout?: number;
                /**
                 * @description State that wait_for_selector waits for: visible, or attached for any element in the DOM. Default: visible.
                 * @enum {string}
                 */
                wait_for_selector_state?: "visible" | "attached";
                /** @description Maximum wait in milliseconds for each selector, expression, click and hover, 0 to 120000. Default: timeout. */
                wait_for_selector_timeout?: number;
                /** @description Number of elements that wait_for_selector must match, 1 to 1000. Default: 1. */
                wait_for_selector_count?: number;
                /** @description CSS selector that must match no visible element before the picture is taken. Default: none. */
                wait_for_selector_gone?: string;
                /** @description JavaScript expression that must become true before the picture is taken, at most 8192 characters. Default: none. */
                wait_for_function?: string;
                /** @description Maximum wait in milliseconds for fonts and images in the picture after all other waits, 0 to 30000; 0 disables it. Default: 3000. */
                wait_for_fonts_timeout?: number;
                /** @description Waits until the images in the picture are loaded, at most wait_for_selector_timeout: also backgrounds, posters, images in components, and images added meanwhile. Default: false. */
                wait_for_images?: boolean;
                /** @description Maximum wait in milliseconds for animations, timers and late requests to end, 0 to 10000; 0 disables it. The page’s time runs faster than real time; the wait ends when either reaches the maximum. While the page gains content or receives data, it takes up to 8 seconds, with compare_to 15. With full_page, content that appears on scroll is shown too. Endless animations show the same phase in each picture. Default: 2000. */
                stability_timeout?: number;
                /** @description Milliseconds without a request after which networkidle is reached, 100 to 10000. Default: 500. */
                network_idle_time?: number;
                /** @description Maximum number of open requests for networkidle, 0 to 10. Default: 0. */
                network_idle_max_connections?: number;
                /** @description Maximum wait for networkidle in milliseconds, 0 to 180000; after it, the picture is taken with a warning. Default: timeout. */
                network_idle_timeout?: number;
                /** @description Milliseconds without a DOM change before the picture is taken, 0 to 10000. Default: 0. */
                dom_idle_time?: number;
                /** @description Takes the picture with a warning if a wait times out, instead of failing the capture. Default: false. */
                best_attempt?: boolean;
                /** @description Maximum number of retries after a transient failure, 0 to 5. Default: 1. */
                retries?: number;
                /** @description Milliseconds to wait before each retry, 0 to 60000. Default: 1000. */
                retry_delay?: number;
                /**
                 * @description How to handle a picture that shows nearly one color: accept keeps it, retry retries once and then keeps it with a warning, fail retries once and then fails. Default: retry.
                 * @enum {string}
                 */
                blank_page_action?: "accept" | "retry" | "fail";
                /** @description HTTP statuses of the page that fail the capture, such as 404 or 500-511, at most 20. Default: none. */
                fail_on_status?: string[];
                /** @description Texts that fail the capture if the page shows one of them, at most 20. Default: none. */
                fail_if_content_contains?: string[];
                /** @description Texts that fail the capture if one of them is missing from the page, at most 20. Default: none. */
                fail_if_content_missing?: string[];
                /** @description CSS selectors that fail the capture if an element matches one of them, at most 20. Default: none. */
                fail_if_selector_present?: string[];
                /** @description URL patterns of requests whose failure fails the capture, at most 20; * matches any text. Default: none. */
                fail_if_request_failed?: string[];
                /** @description Fails the capture if scripts throws an error; if false, the record has a warning. A syntax error always fails the capture. Default: true. */
                fail_on_script_error?: boolean;
                /**
                 * @description Whether a redirect to another URL fails the capture: never, cross_site or always. Default: never.
                 * @enum {string}
                 */
                fail_on_redirect?: "never" | "cross_site" | "always";
                /** @description Fails the capture if a script of the page throws an uncaught error. Default: false. */
                fail_on_page_error?: boolean;
                /** @description Fails the capture if the site shows a bot challenge. Default: false. */
                fail_on_bot_challenge?: boolean;
                /** @description Captures the whole scrollable page instead of the viewport. Default: false. */
                full_page?: boolean;
                /** @description Maximum height of a full-page picture in CSS pixels, 1000 to 50000. Default: 25000. */
                full_page_max_height?: number;
                /** @description Scrolls smoothly down the page before a full-page picture, so that content that appears on scroll is captured. Default: false. */
                full_page_scroll?: boolean;
                /** @description Milliseconds to wait after each scroll of full_page_scroll, 0 to 10000. Default: 0. */
                full_page_scroll_delay?: number;
                /** @description CSS pixels of each scroll of full_page_scroll, 100 to 5000. Default: the height of the viewport. */
                full_page_scroll_by?: number;
                /** @description Maximum number of scrolls of full_page_scroll, 1 to 500, for pages with infinite scrolling. Default: as many as full_page_max_height needs. */
                full_page_max_scrolls?: number;
                /** @description Scrolls quickly down the page and back before a full-page picture, in at most two seconds, so that lazy content loads. For a slow scroll, use full_page_scroll. Default: true. */
                full_page_sweep?: boolean;
                /** @description Loads images and frames with loading=lazy immediately for a full-page picture. Default: true. */
                full_page_eager_images?: boolean;
                /**
                 * @description How to capture a full page: native takes one picture, stitch joins sections, auto uses native up to a height of 8192 device pixels. Above 16384, native stitches too. Default: auto.
                 * @enum {string}
                 */
                full_page_algorithm?: "auto" | "native" | "stitch";
                /** @description Height of a section in device pixels, 500 to 16000, for full_page_algorithm stitch and full_page_fixed_elements keep. Default: 4096. */
                full_page_section_height?: number;
                /**
                 * @description How to show fixed and sticky elements in a full page: once shows them where they are at the top of the page, and bars at the bottom of the window at the end of the picture; hide hides them; keep shows them in every section of a stitched page. In the picture of an element or region that the window does not contain, once shows them where a full page does, and keep where they are in the window. Default: once.
                 * @enum {string}
                 */
                full_page_fixed_elements?: "once" | "hide" | "keep";
                /** @description Keeps the height of elements that are as tall as the viewport constant during a full-page capture. Needed only for pages that grow because of scripts or expanded panels. Default: false. */
                full_page_fix_viewport_units?: boolean;
                /** @description Captures the whole width of a full page that is wider than the viewport. Default: false. */
                full_page_full_width?: boolean;
                /** @description CSS selector of the part that scrolls instead of the page, auto for the largest one, or none; a full page shows all of it. none also leaves a locked page as it is, even if its dialog is hidden. Lists that draw only the rows in view, editors, dialogs and frames of other origins are left as they are. Default: the part that fills at least half of the viewport of a page that does not scroll itself, unless it is one of several panes. */
                full_page_scroll_container?: string;
                /**
                 * @description How to handle a page that is longer than full_page_max_height or than its format allows: crop cuts it, scale shrinks the picture, fail returns TOO_LARGE. Default: crop.
                 * @enum {string}
                 */
                full_page_overflow?: "crop" | "scale" | "fail";
                /** @description CSS selector of an element to capture instead of the viewport. The first visible match is captured, as far as boxes around it show it. A hidden match is waited for at most 5 seconds in a page that loads nothing. Default: none. */
                selector?: string;
                /**
                 * @description How to capture selector: element scrolls to it first, clip cuts its box out of the page without scrolling. Default: element.
                 * @enum {string}
                 */
                selector_algorithm?: "element" | "clip";
                /** @description Captures the area that contains all visible matches of selector. Default: false. */
                selector_all?: boolean;
                /** @description CSS pixels of the page around selector to capture too, 0 to 1000. Default: 0. */
                selector_padding?: number;
                /** @description Hides elements over or beside selector, such as fixed headers. Default: false. */
                selector_isolate?: boolean;
                /** @description Scrolls to selector before the capture, so that lazy content loads. Default: true. */
                selector_scroll_into_view?: boolean;
                /** @description Fails the capture with SELECTOR_NOT_FOUND if selector matches no visible element; if false, captures the viewport with a warning. Default: false. */
                error_on_selector_not_found?: boolean;
                /** @description Left edge of a region of the page to capture, in CSS pixels, 0 to 50000. Default: none. */
                clip_x?: number;
                /** @description Top edge of a region of the page to capture, in CSS pixels, 0 to 50000. Default: none. */
                clip_y?: number;
                /** @description Width of a region of the page to capture, in CSS pixels, 1 to 20000. Default: none. */
                clip_width?: number;
                /** @description Height of a region of the page to capture, in CSS pixels, 1 to 50000. Default: none. */
                clip_height?: number;
                /** @description Captures content outside the viewport without resizing the viewport. If false, a region ends at the edge of the viewport, and a full page enlarges the viewport to at most 16384 pixels. Default: true. */
                capture_beyond_viewport?: boolean;
                /**
                 * @description Format of the file: png, jpeg, webp, avif or pdf. Default: png.
                 * @enum {string}
                 */
                format?: "png" | "jpeg" | "webp" | "avif" | "pdf";
                /** @description Quality of a jpeg, webp or avif, 0 to 100. A higher value looks better and makes a larger file. No effect on other formats. Default: 90. */
                image_quality?: number;
                /** @description Makes the page background transparent; png only. Default: false. */
                omit_background?: boolean;
                /** @description Width to resize the picture to in pixels, 1 to 10000. Default: none. */
                image_width?: number;
                /** @description Height to resize the picture to in pixels, 1 to 50000. Default: none. */
                image_height?: number;
                /**
                 * @description How to fit the picture into both image_width and image_height: cover cuts, contain pads, fill distorts, inside stays within both, outside covers both. Default: inside.
                 * @enum {string}
                 */
                image_fit?: "cover" | "contain" | "fill" | "inside" | "outside";
                /**
                 * @description Part of the picture to keep if image_fit cuts: top, bottom, left, right, center, or the most detailed part by entropy or attention. Default: top.
                 * @enum {string}
                 */
                image_position?: "top" | "center" | "bottom" | "left" | "right" | "entropy" | "attention";
                /** @description Allows image_width and image_height to enlarge the picture, up to the limits of its format. Default: false. */
                image_upscale?: boolean;
                /** @description Color that fills padding and, in a jpeg, transparent areas: a hex value, rgb(), rgba() or one of the 17 names of CSS 2. Default: #ffffff. */
                image_background?: string;
                /** @description Background color for pages that set none: a hex value, rgb(), rgba() or one of the 17 names of CSS 2. Default: none. */
                background_color?: string;
                /** @description Removes borders of one color. Default: false. */
                image_trim?: boolean;
                /** @description Maximum color difference within a border for image_trim, 0 to 255. Default: 10. */
                image_trim_threshold?: number;
                /** @description Pixels of image_background around the picture, 0 to 500. Default: 0. */
                image_padding?: number;
                /** @description Encodes a webp or avif without loss. A png is always lossless. Default: false. */
                image_lossless?: boolean;
                /** @description Encodes a progressive jpeg or an interlaced png. Default: false. */
                image_progressive?: boolean;
                /** @description Number of colors in the palette of a png, 2 to 256; 0 disables the palette. A palette makes the file much smaller. Default: 0. */
                image_palette_colors?: number;
                /** @description Maximum size of the file in bytes, 10240 to 52428800. Quality, then dimensions, are reduced until the file fits. Default: none. */
                image_max_bytes?: number;
                /** @description Converts the picture to grayscale. Default: false. */
                image_grayscale?: boolean;
                /** @description Encodes a png faster; if false, encoding takes longer and the file is smaller. Default: true. */
                optimize_for_speed?: boolean;
                /** @description Width of a thumbnail in pixels, 16 to 2000. Default: none. */
                thumbnail_width?: number;
                /** @description Height of a thumbnail in pixels, 16 to 2000. Together with thumbnail_width, the thumbnail shows the top part of the picture. Default: none. */
                thumbnail_height?: number;
                /**
                 * @description Format of the thumbnail: jpeg, png or webp. Default: the format of the picture, or webp for avif.
                 * @enum {string}
                 */
                thumbnail_format?: "jpeg" | "png" | "webp";
                /**
                 * @description Stores a small copy beside the picture: fit is one picture, of a taller page the first slice; slices has up to preview_max_slices, one behind the other in one file. Default: none.
                 * @enum {string}
                 */
                preview?: "fit" | "slices";
                /**
                 * @description Format of each slice: webp or jpeg. Default: webp.
                 * @enum {string}
                 */
                preview_format?: "webp" | "jpeg";
                /** @description Maximum width and height of each slice in pixels, 896 to 2000. Default: 1568. */
                preview_max_side?: number;
                /** @description Maximum bytes of each slice, 65536 to 1048576. Quality is reduced until the slice fits, then its height. Default: 262144. */
                preview_max_bytes?: number;
                /** @description Maximum number of slices, for preview slices, 1 to 12. Default: 12. */
                preview_max_slices?: number;
                /**
                 * @description Paper format of a pdf: a0 to a6, letter, legal, tabloid or ledger. Default: a4.
                 * @enum {string}
                 */
                pdf_paper_format?: "a0" | "a1" | "a2" | "a3" | "a4" | "a5" | "a6" | "letter" | "legal" | "tabloid" | "ledger";
                /** @description Width of the sheet with a unit, such as 210mm, 8.5in or 800px. Overrides pdf_paper_format. Default: none. */
                pdf_width?: string;
                /** @description Height of the sheet with a unit, such as 297mm or 11in. Overrides pdf_paper_format. Default: none. */
                pdf_height?: string;
                /** @description Prints in landscape orientation. Default: false. */
                pdf_landscape?: boolean;
                /** @description Prints backgrounds. Default: true. */
                pdf_print_background?: boolean;
                /** @description Scale of the content, 0.1 to 2. Default: 1. */
                pdf_scale?: number;
                /** @description Margin at the top, such as 10mm. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_top?: string;
                /** @description Margin on the right. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_right?: string;
                /** @description Margin at the bottom. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_bottom?: string;
                /** @description Margin on the left. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_left?: string;
                /** @description Pages to include, such as 1-3,5. The capture fails if no page matches. Default: all. */
                pdf_page_ranges?: string;
                /** @description Prints all content on one sheet that is as tall as the content. The width is pdf_width or that of pdf_paper_format. Page breaks, and @page rules of the page, have no effect. Default: false. */
                pdf_fit_one_page?: boolean;
                /** @description Prefers the page’s own CSS @page size. Default: false. */
                pdf_prefer_css_page_size?: boolean;
                /** @description HTML to print at the top of each sheet within pdf_margin_top, at most 16384 characters. The browser fills in spans with class date, title, url, pageNumber or totalPages. Images can use data: URLs only. Default: none. */
                pdf_header_template?: string;
                /** @description HTML to print at the bottom of each sheet, with the rules of pdf_header_template, at most 16384 characters. Default: none. */
                pdf_footer_template?: string;
                /** @description Tags the content for screen readers. Default: false. */
                pdf_tagged?: boolean;
                /** @description Creates bookmarks from the headings, and tags the content too. Default: false. */
                pdf_outline?: boolean;
                /** @description Stores the page’s final HTML, with the values of visible fields and without passwords, beside the capture. Default: false. */
                save_html?: boolean;
                /** @description Stores the page’s visible text, with that of fields, buttons and style sheets and without passwords, beside the capture. Default: false. */
                save_text?: boolean;
                /** @description Stores the page’s article as Markdown, or the whole page if it has no article, beside the capture. Default: false. */
                save_markdown?: boolean;
                /** @description Stores the page’s links as JSON, with their URLs, texts and whether they stay within the site, beside the capture. Default: false. */
                save_links?: boolean;
                /** @description Stores the page with its images and styles as one MHTML file, which can contain what mask_selectors hides, beside the capture. Default: false. */
                save_mhtml?: boolean;
                /** @description Stores the page’s requests as a HAR file, without cookies, credentials or bodies, which can contain what mask_selectors hides, beside the capture. Default: false. */
                save_har?: boolean;
                /** @description Stores console messages and uncaught errors, which can contain what mask_selectors hides, as JSON beside the capture. Default: false. */
                save_console?: boolean;
                /** @description Stores the accessibility tree as JSON beside the capture. Default: false. */
                save_accessibility_tree?: boolean;
                /** @description Records the page’s title. Always on. Default: true. */
                metadata_page_title?: boolean;
                /** @description Records the redirects that led to final_url in the record’s metadata. Default: false. */
                metadata_final_url?: boolean;
                /** @description Records the HTTP status of the page. Always on. Default: true. */
                metadata_http_response_status_code?: boolean;
                /** @description Records the response headers of the page, except cookies, in the record’s metadata. Default: false. */
                metadata_http_response_headers?: boolean;
                /** @description Records width and height of the picture in the record’s metadata. Default: false. */
                metadata_image_size?: boolean;
                /** @description Records Open Graph and Twitter tags and the description in the record’s metadata. Default: false. */
                metadata_open_graph?: boolean;
                /** @description Records the URL of the page’s best icon in the record’s metadata. Default: false. */
                metadata_icon?: boolean;
                /** @description Records the font families that the page uses in the record’s metadata. Default: false. */
                metadata_fonts?: boolean;
                /** @description Records the duration of each step and of the page load, in milliseconds, in the record’s metadata. Default: false. */
                metadata_timings?: boolean;
                /** @description Records the file’s SHA-256 and a perceptual hash of the picture in the record’s metadata. Default: false. */
                metadata_content_hash?: boolean;
                /** @description Records the picture’s main colors in the record’s metadata. Default: false. */
                metadata_palette?: boolean;
                /** @description Records the first 100 URLs that the page links to in the record’s metadata. Default: false. */
                metadata_links?: boolean;
                /** @description Records the number of blocked requests in the record’s metadata. Default: false. */
                metadata_blocked_requests?: boolean;
                /** @description Id of an earlier completed screenshot of the account, with whose picture to compare this one. The record then has comparison. Default: none. */
                compare_to?: string;
                /** @description Share of changed pixels above which the picture counts as changed, 0 to 1. With 0, one pixel is a change. Default: none, so that each changed region of a few pixels is a change. */
                compare_threshold?: number;
                /** @description Color difference up to which two pixels count as equal, 0 to 1; 1 is black and white. Default: 0.1. */
                compare_color_tolerance?: number;
                /** @description Counts changed pixels at the smoothed edges of text and shapes too. If false, they are detected and ignored. Default: false. */
                compare_antialiasing?: boolean;
                /** @description HTTP statuses from 400 on with which the page is compared, such as 404 or 500-511, at most 20. Other error pages are not compared. Default: none. */
                compare_accept_status?: string[];
                /** @description CSS selectors, or regions with x, y, width and height (or left, top, width and height) in CSS pixels of the page, that are not compared, at most 20. The areas of the selectors in both pictures are ignored, if both captures have the selector. Default: none. */
                compare_ignore?: (string | ({
                    /** @description CSS selector of elements to ignore. */
                    selector?: string;
                    /** @description Left edge of a region in CSS pixels of the page, 0 to 50000. */
                    x?: number;
                    /** @description Top edge, 0 to 50000. */
                    y?: number;
                    /** @description The same as x. Use it in YAML. */
                    left?: number;
                    /** @description The same as y. Use it in YAML, where y without quotation marks is a boolean. */
                    top?: number;
                    /** @description Width, 1 to 50000. */
                    width?: number;
                    /** @description Height, 1 to 50000. */
                    height?: number;
                } & (unknown | ((unknown | unknown) & (unknown | unknown)))))[];
                /** @description Your own bucket, to which the picture is copied in addition to the bucket of this service. Default: none. */
                storage_bucket?: string;
                /** @description URL of the S3-compatible store that has storage_bucket: https, host and port. Default: none. */
                storage_endpoint?: string;
                /** @description Region of storage_bucket, at most 64 characters. Default: us-east-1. */
                storage_region?: string;
                /** @description Whether storage_bucket is in the path of requests. False: it is in the host name (virtual-host style), unless the endpoint is an IP address or the bucket has a dot. Default: true. */
                storage_path_style?: boolean;
                /** @description Key of the copy, at most 512 characters. {id}, {host}, {date} and {format} are replaced with the screenshot’s id, the page’s host, the UTC date and the format. Default: {id}.{format}. */
                storage_path?: string;
                /** @description Request headers by name, at most 64. The browser sends them to the page’s own origin, unless headers_scope allows more. That of html and markdown is html_base_url. Default: none. */
                headers?: {
                    [key: string]: string;
                };
                /** @description Cookies to set before the page is opened, at most 100. Default: none. */
                cookies?: ({
                    /** @description Name, at most 256 characters. */
                    name: string & (unknown & unknown);
                    /** @description Value, at most 4096 characters, without spaces at its ends. */
                    value: string & (unknown & unknown);
                    /** @description Host that receives the cookie; with a leading dot, its subdomains too. Default: the host of the page. */
                    domain?: string;
                    /** @description Path prefix that receives the cookie. Default: /. */
                    path?: string & (unknown & unknown);
                    /** @description Expiry as Unix time in seconds. Default: the end of the capture. */
                    expires?: number;
                    /** @description Hides the cookie from scripts. Default: false. */
                    http_only?: boolean;
                    /** @description Sends the cookie over https only. Default: false. */
                    secure?: boolean;
                    /**
                     * @description Attribute SameSite: Strict, Lax or None. Default: the browser’s default.
                     * @enum {string}
                     */
                    same_site?: "Strict" | "Lax" | "None";
                } | string)[];
                /** @description Value of the header Authorization, at most 8192 characters. The browser sends it to the page’s own origin, unless headers_scope allows more. Default: none. */
                authorization?: string;
                /** @description User name for HTTP authentication at the page’s own origin, at most 1024 characters, without a colon. Default: none. */
                basic_auth_username?: string;
                /** @description Password for basic_auth_username, at most 1024 characters. Default: none. */
                basic_auth_password?: string;
                /** @description Entries of localStorage by name, at most 64 KiB in total. They are set for the page’s own origin before its first script. Default: none. */
                local_storage?: {
                    [key: string]: string;
                };
                /** @description Access key id for storage_bucket, at most 256 characters. Default: none. */
                storage_access_key_id?: string;
                /** @description Secret access key for storage_bucket, at most 256 characters. Default: none. */
                storage_secret_access_key?: string;
                /** @description User name for proxy, at most 256 characters. Default: none. */
                proxy_username?: string;
                /** @description Password for proxy, at most 256 characters. Default: none. */
                proxy_password?: string;
                /** @description Reuses the picture of an earlier equal request with cache, if there is one. The record is then completed immediately and is not charged. Default: false. */
                cache?: boolean;
                /** @description Maximum age of the reused picture in seconds, 60 to 2592000. The retention of files applies too. Default: 86400. */
                cache_ttl?: number;
                /** @description Separate cache for otherwise equal requests, 1 to 250 letters, digits, - and _. Default: none. */
                cache_key?: string;
                /** @description Captures the page again and replaces the cached picture. Default: false. */
                cache_refresh?: boolean;
                /** @description Your own identifier, 1 to 64 letters, digits, - and _. The record returns it. Default: none. */
                external_identifier?: string;
                /** @description File name for downloads, at most 128 characters. Without it, browsers show images and save PDFs. Default: none. */
                attachment_name?: string;
                /** @description Lifetime of the record’s download links in seconds, 60 to 604800. Default: 86400. */
                download_url_ttl?: number;
                /** @description Days to keep the files, 1 to 365, and at most the retention of the account’s plan. Default: the plan’s. */
                retention_days?: number;
                /**
                 * Format: uri
                 * @description URL to which the events of this request are posted, in addition to registered endpoints: https, public, without user name, password and fragment.
                 */
                webhook_url?: string;
                /** @description Events that are posted to webhook_url. Default: screenshot.completed and screenshot.failed. */
                webhook_events?: ("screenshot.queued" | "screenshot.completed" | "screenshot.changed" | "screenshot.unfit" | "screenshot.fit" | "screenshot.failed")[];
            };
            /** @description Your own identifier, 1 to 64 letters, digits, - and _. The record returns it. Default: none. */
            external_identifier?: string;
            /** @description File name for downloads, at most 128 characters. Without it, browsers show images and save PDFs. Default: none. */
            attachment_name?: string;
            /** @description Lifetime of the record’s download links in seconds, 60 to 604800. Default: 86400. */
            download_url_ttl?: number;
            /** @description Days to keep the files, 1 to 365, and at most the retention of the account’s plan. Default: the plan’s. */
            retention_days?: number;
            /**
             * Format: uri
             * @description URL to which the events of this request are posted, in addition to registered endpoints: https, public, without user name, password and fragment.
             */
            webhook_url?: string;
            /** @description Events that are posted to webhook_url. Default: screenshot.completed and screenshot.failed. */
            webhook_events?: ("screenshot.queued" | "screenshot.completed" | "screenshot.changed" | "screenshot.unfit" | "screenshot.fit" | "screenshot.failed")[];
        };
        /** @description A new API key. */
        CreateKey: {
            /** @description Display name, at most 100 characters. */
            name: string;
            /** @description Scopes of the key. Default: all (*). */
            scopes?: ("*" | "screenshots:read" | "screenshots:write" | "webhooks:read" | "webhooks:write" | "schedules:read" | "schedules:write" | "keys:read" | "keys:write" | "usage:read")[];
            /** @description When the key expires. Null or absent: never. */
            expires_at?: string | null;
            /** @description Days until the key expires, instead of expires_at. */
            expires_in_days?: number;
            /** @description Limits of the signed links of the key. Null or absent: none. */
            link_policy?: components["schemas"]["LinkPolicyRequest"] | null;
            /** @description Limits of the captures of the key. Null or absent: none. */
            capture_policy?: components["schemas"]["CapturePolicyRequest"] | null;
        };
        /** @description A page to capture again and again. `url` is required, unless `options` has html or markdown. */
        CreateSchedule: {
            /** @description Name for people, at most 100 characters. Default: the name of the object. */
            name?: string;
            /** @description When to capture: a cron expression of five fields, a macro such as @hourly, or @every and a duration such as 1h30m. As in Kubernetes’ CronJob. */
            schedule: string;
            /** @description Time zone of the schedule: a name of the IANA database such as Europe/Zurich. Default: UTC. */
            time_zone?: string;
            /** @description If true, no runs are created. Default: false. */
            suspend?: boolean;
            /**
             * @description forbid: a run waits until the previous one has ended. allow: runs may overlap. Default: forbid.
             * @enum {string}
             */
            concurrency_policy?: "forbid" | "allow";
            /** @description Seconds after its due time within which a missed run may still start, 1 to 31622400. Default: no limit. */
            starting_deadline_seconds?: number;
            /** @description Seconds over which schedules are spread, 0 to 86400: each is late by a part of it that its uid determines. Default: 0. */
            spread_seconds?: number;
            comparison?: components["schemas"]["ScheduleComparisonRequest"];
            /** @description Your own identifier, 1 to 64 letters, digits, - and _. The record returns it. Default: none. */
            external_identifier?: string;
            /** @description File name for downloads, at most 128 characters. Without it, browsers show images and save PDFs. Default: none. */
            attachment_name?: string;
            /** @description Lifetime of the record’s download links in seconds, 60 to 604800. Default: 86400. */
            download_url_ttl?: number;
            /** @description Days to keep the files, 1 to 365, and at most the retention of the account’s plan. Default: the plan’s. */
            retention_days?: number;
            /**
             * Format: uri
             * @description URL to which the events of this request are posted, in addition to registered endpoints: https, public, without user name, password and fragment.
             */
            webhook_url?: string;
            /** @description Events that are posted to webhook_url. Default: completed and failed. */
            webhook_events?: ("screenshot.queued" | "screenshot.completed" | "screenshot.changed" | "screenshot.unfit" | "screenshot.fit" | "screenshot.failed" | "video.completed" | "video.failed")[];
            /**
             * Format: uri
             * @description URL of the page: public, http or https, at most 8192 characters. User name and password in it are used for basic authentication and are never shown.
             */
            url?: string;
            /** @description Capture options of every run. All are optional. */
            options?: {
                /** @description Width of the viewport in CSS pixels, 1 to 7680. Default: 1920. */
                viewport_width?: number;
                /** @description Height of the viewport in CSS pixels, 1 to 7680. Default: 1080. */
                viewport_height?: number;
                /** @description Device pixels per CSS pixel, 0.1 to 5. Default: 1. */
                device_scale_factor?: number;
                /** @description Device to emulate: its viewport, pixel ratio, touch and user agent. Other options override these. Default: none. */
                device?: string;
                /** @description Sets the CSS media feature prefers-color-scheme to dark. Default: false. */
                dark_mode?: boolean;
                /** @description The page as HTML, instead of url, 1 to 2097152 characters. The browser still loads its resources from the network. Default: none. */
                html?: string;
                /** @description The page as Markdown, instead of url, 1 to 1048576 characters. It is rendered on a white background, with tables, task lists, and headings whose ids are those of GitHub. HTML in it is shown as text. Default: none. */
                markdown?: string;
                /** @description Base URL of html or markdown for relative links, http or https. Default: none. */
                html_base_url?: string;
                /** @description URL in the header Referer of the page’s request, http or https. Default: none. */
                referer?: string;
                /** @description Blocks every request of html or markdown, so that only inline content is shown. Default: false. */
                offline?: boolean;
                /** @description User agent that servers and scripts see, at most 1024 characters. Client hints match it, and service workers are blocked. Default: the device’s, else the browser’s own. */
                user_agent?: string;
                /** @description Platform that scripts and client hints report, such as Win32, MacIntel or Linux x86_64, at most 64 characters. Workers report the browser’s own. Default: the platform that matches user_agent. */
                user_agent_platform?: string;
                /** @description Header Accept-Language of every request, at most 256 characters; does not change locale. Default: derived from locale. */
                accept_language?: string;
                /**
                 * @description Which requests carry headers and authorization: same_origin for the page’s own origin, same_site for hosts of its site, all for every request, also to third parties. Default: same_origin.
                 * @enum {string}
                 */
                headers_scope?: "same_origin" | "same_site" | "all";
                /** @description URL of the proxy for the page’s traffic: http, https or socks5, with host and port. A user name and password in it become proxy_username and proxy_password. Default: none. */
                proxy?: string;
                /** @description Hosts to reach without the proxy, at most 50; *.example.com matches all subdomains. Default: none. */
                proxy_bypass?: string[];
                /** @description Accepts invalid TLS certificates. Default: false. */
                ignore_https_errors?: boolean;
                /**
                 * @description HTTP cache: batch shares scripts, style sheets, fonts and images among the captures of one batch; off requests them again for each capture. The cache stores only fresh responses to requests without cookies or credentials. No effect outside a batch. Default: batch.
                 * @enum {string}
                 */
                http_cache?: "off" | "batch";
                /** @description Latitude of the emulated geolocation in degrees, -90 to 90. Default: none, geolocation is denied. */
                geolocation_latitude?: number;
                /** @description Longitude of the emulated geolocation in degrees, -180 to 180. Default: none. */
                geolocation_longitude?: number;
                /** @description Accuracy of the emulated geolocation in meters, 0 to 100000. Default: 0. */
                geolocation_accuracy?: number;
                /** @description IANA time zone of the page, such as Europe/Vienna, in capital or small letters. Default: UTC. */
                timezone?: string;
                /** @description Language and region of the page as a BCP 47 tag, such as de-AT. Sets the formats of scripts, navigator.language and Accept-Language. What the browser draws by itself stays American English: form fields for dates, times, months, weeks, numbers and files, buttons without a label, and validation messages. The lang attribute of the page decides the forms of Han letters; without it they are those of simplified Chinese. Default: en-US. */
                locale?: string;
                /** @description Time at which the clock of each document starts when it loads, ISO 8601 with a zone, 1990 to 2100. A day alone begins at 00:00 UTC. It runs on, so that delayed work of the page happens. A pdf has this time as its date. Default: none, the clock is the real one. */
                fixed_time?: string;
                /** @description Lays the page out as a phone does: honors its viewport tag and overlays scroll bars. Default: the device’s, else false. */
                viewport_mobile?: boolean;
                /** @description Reports a touch screen to the page. Default: the device’s, else false. */
                viewport_has_touch?: boolean;
                /** @description Makes the longer side of the window its width. Default: false. */
                viewport_landscape?: boolean;
                /**
                 * @description CSS media type: screen or print. Default: screen, and print for a pdf.
                 * @enum {string}
                 */
                media_type?: "screen" | "print";
                /** @description Sets the CSS media feature prefers-reduced-motion to reduce. Default: false. */
                reduced_motion?: boolean;
                /** @description Replaces the page’s colors with a few high-contrast colors. Default: false. */
                forced_colors?: boolean;
                /**
                 * @description CSS media feature prefers-contrast: no_preference, more or less. Default: no_preference.
                 * @enum {string}
                 */
                prefers_contrast?: "no_preference" | "more" | "less";
                /** @description Other CSS media features by name, such as color-gamut: p3, at most 20. Default: none. */
                media_features?: {
                    [key: string]: string;
                };
                /** @description Darkens pages that have no dark color scheme. Default: false. */
                dark_mode_force?: boolean;
                /** @description Runs the page’s scripts. Scripts in these options run in either case. Default: true. */
                javascript_enabled?: boolean;
                /** @description Disables the page’s Content-Security-Policy, so that scripts can add blocked content. Default: false. */
                bypass_csp?: boolean;
                /** @description Zoom of the browser, 0.25 to 5: the window has fewer and larger CSS pixels, so media queries and vh follow. The picture has the same size in pixels. For a pdf, magnifies the page. Default: 1. */
                page_zoom?: number;
                /** @description CSS to add to the page, at most 262144 characters. Default: none. */
                styles?: string;
                /** @description JavaScript to run in the page after it has loaded, at most 262144 characters. If javascript_enabled is false, its timers never fire. Default: none. */
                scripts?: string;
                /** @description CSS selector of an element to click before the picture is taken. A new tab that it opens replaces the page. Default: none. */
                click?: string;
                /** @description JavaScript to run in every frame before the page’s own scripts, at most 262144 characters. Default: none. */
                init_script?: string;
                /** @description States to wait for again after scripts, if scripts change the page or navigate: load, domcontentloaded, networkidle. Default: none. */
                scripts_wait_until?: ("load" | "domcontentloaded" | "networkidle")[];
                /** @description URLs of scripts to run in the page after it has loaded, at most 10. Default: none. */
                script_urls?: string[];
                /** @description URLs of style sheets to add to the page, at most 10. Default: none. */
                style_urls?: string[];
                /** @description CSS selectors of elements to remove from the layout, at most 100. Default: none. */
                hide_selectors?: string[];
                /** @description Applies hide_selectors inside shadow roots and frames too. All other options search them always. Default: false. */
                include_shadow_dom?: boolean;
                /** @description CSS selectors of elements to cover with a box of one color, such as private or changing content, at most 50. Their content is in no file except HAR, MHTML and console messages. In a pdf, the elements are left blank instead. Default: none. */
                mask_selectors?: string[];
                /** @description CSS color of the boxes of mask_selectors. Default: #ff00ff. */
                mask_color?: string;
                /** @description Fails the capture if click matches no element; if false, the record has a warning. Default: true. */
                error_on_click_selector_not_found?: boolean;
                /** @description CSS selector of elements to click one after the other, at most 50. Default: none. */
                click_all?: string;
                /** @description CSS selector of an element to hover over while the picture is taken. Default: none. */
                hover?: string;
                /** @description Fails the capture if hover matches no element; if false, the record has a warning. Default: true. */
                error_on_hover_selector_not_found?: boolean;
                /** @description Key to press after the page has loaded, such as Escape, Enter, PageDown or Control+A. Default: none. */
                press_key?: string;
                /** @description CSS selector of an element to scroll to before the picture is taken. Default: none. */
                scroll_into_view?: string;
                /** @description CSS pixels to scroll additionally after scroll_into_view, -10000 to 10000. Default: 0. */
                scroll_into_view_adjust_top?: number;
                /** @description Horizontal scroll position in CSS pixels, 0 to 50000. Default: 0. */
                scroll_x?: number;
                /** @description Vertical scroll position in CSS pixels, 0 to 50000. Default: 0. */
                scroll_y?: number;
                /** @description Stops animations and transitions of CSS, and animations of SVG elements, before the picture is taken: finite ones show their last frame, infinite ones their first. Animated image files go on. Default: false. */
                disable_animations?: boolean;
                /** @description Stops audio, and stops videos at their first frame. Default: false. */
                pause_videos?: boolean;
                /** @description Blocks advertisements. Default: false. */
                block_ads?: boolean;
                /** @description Blocks analytics scripts and other trackers. Default: false. */
                block_trackers?: boolean;
                /** @description Responds to cookie consent banners, and hides the banners that it cannot respond to. Default: false. */
                block_cookie_banners?: boolean;
                /**
                 * @description What block_cookie_banners does: opt_out rejects cookies, opt_in accepts them, hide only hides the banner. Default: opt_out.
                 * @enum {string}
                 */
                cookie_banner_action?: "opt_out" | "opt_in" | "hide";
                /** @description Hides elements that look like banners or overlays, even if no filter list has them. Default: false. */
                block_banners_by_heuristics?: boolean;
                /** @description Blocks chat widgets and similar helpers. Default: false. */
                block_chats?: boolean;
                /** @description Blocks buttons and embedded posts of social networks. Default: false. */
                block_socials?: boolean;
                /** @description Blocks newsletter pop-ups, app banners, notification requests and similar annoyances. Default: false. */
                block_annoyances?: boolean;
                /** @description URL patterns of requests to block, at most 100; * matches any text, as in *://*.example.com/*. Default: none. */
                block_requests?: string[];
                /** @description Types of requests to block: document (frames), stylesheet, image, media, font, script, texttrack, xhr, fetch, eventsource, websocket, manifest, other. The browser does not distinguish xhr from fetch. Default: none. */
                block_resources?: ("document" | "stylesheet" | "image" | "media" | "font" | "script" | "texttrack" | "xhr" | "fetch" | "eventsource" | "websocket" | "manifest" | "other")[];
                /** @description URL patterns of requests that no other option blocks, at most 100; * matches any text. Default: none. */
                allow_requests?: string[];
                /** @description Blocks every request to a site other than the page’s own. Default: false. */
                block_third_party?: boolean;
                /** @description Blocks service workers. Always on when another option filters requests. Default: false. */
                block_service_workers?: boolean;
                /** @description Milliseconds to wait before the picture is taken, 0 to 60000. Default: 0. */
                delay?: number;
                /** @description Maximum time for the page to load in milliseconds, 1000 to 180000. Default: 30000. */
                timeout?: number;
                /** @description CSS selector of an element to wait for before the picture is taken. Default: none. */
                wait_for_selector?: string;
                /** @description States to wait for within timeout: load, domcontentloaded, networkidle, commit. All must be reached. Default: load. */
                wait_until?: ("load" | "domcontentloaded" | "networkidle" | "commit")[];
                /** @description Maximum time for a whole attempt in milliseconds, 5000 to 600000. Default: the sum of the other time limits. */
                job_timeout?: number;
                /** @description Maximum time for taking the picture or recording the video, and for comparing it, in milliseconds, 1000 to 600000. Default: 30000, with full_page 2 more for each pixel of full_page_max_height, at most 120000; for a video 200 more for each frame, and in proportion more above 1920 × 1080, at most 600000. */
                capture_timeout?: number;
                /**
                 * @description State that wait_for_selector waits for: visible, or attached for any element in the DOM. Default: visible.
                 * @enum {string}
                 */
                wait_for_selector_state?: "visible" | "attached";
                /** @description Maximum wait in milliseconds for each selector, expression, click and hover, 0 to 120000. Default: timeout. */
                wait_for_selector_timeout?: number;
                /** @description Number of elements that wait_for_selector must match, 1 to 1000. Default: 1. */
                wait_for_selector_count?: number;
                /** @description CSS selector that must match no visible element before the picture is taken. Default: none. */
                wait_for_selector_gone?: string;
                /** @description JavaScript expression that must become true before the picture is taken, at most 8192 characters. Default: none. */
                wait_for_function?: string;
                /** @description Maximum wait in milliseconds for fonts and images in the picture after all other waits, 0 to 30000; 0 disables it. Default: 3000. */
                wait_for_fonts_timeout?: number;
                /** @description Waits until the images in the picture are loaded, at most wait_for_selector_timeout: also backgrounds, posters, images in components, and images added meanwhile. Default: false. */
                wait_for_images?: boolean;
                /** @description Maximum wait in milliseconds for animations, timers and late requests to end, 0 to 10000; 0 disables it. The page’s time runs faster than real time; the wait ends when either reaches the maximum. While the page gains content or receives data, it takes up to 8 seconds, with compare_to 15. With full_page, content that appears on scroll is shown too. Endless animations show the same phase in each picture. Default: 2000. */
                stability_timeout?: number;
                /** @description Milliseconds without a request after which networkidle is reached, 100 to 10000. Default: 500. */
                network_idle_time?: number;
                /** @description Maximum number of open requests for networkidle, 0 to 10. Default: 0. */
                network_idle_max_connections?: number;
                /** @description Maximum wait for networkidle in milliseconds, 0 to 180000; after it, the picture is taken with a warning. Default: timeout. */
                network_idle_timeout?: number;
                /** @description Milliseconds without a DOM change before the picture is taken, 0 to 10000. Default: 0. */
                dom_idle_time?: number;
                /** @description Takes the picture with a warning if a wait times out, instead of failing the capture. Default: false. */
                best_attempt?: boolean;
                /** @description Maximum number of retries after a transient failure, 0 to 5. Default: 1. */
                retries?: number;
                /** @description Milliseconds to wait before each retry, 0 to 60000. Default: 1000. */
                retry_delay?: number;
                /**
                 * @description How to handle a picture that shows nearly one color: accept keeps it, retry retries once and then keeps it with a warning, fail retries once and then fails. Default: retry.
                 * @enum {string}
                 */
                blank_page_action?: "accept" | "retry" | "fail";
                /** @description HTTP statuses of the page that fail the capture, such as 404 or 500-511, at most 20. Default: none. */
                fail_on_status?: string[];
                /** @description Texts that fail the capture if the page shows one of them, at most 20. Default: none. */
                fail_if_content_contains?: string[];
                /** @description Texts that fail the capture if one of them is missing from the page, at most 20. Default: none. */
                fail_if_content_missing?: string[];
                /** @description CSS selectors that fail the capture if an element matches one of them, at most 20. Default: none. */
                fail_if_selector_present?: string[];
                /** @description URL patterns of requests whose failure fails the capture, at most 20; * matches any text. Default: none. */
                fail_if_request_failed?: string[];
                /** @description Fails the capture if scripts throws an error; if false, the record has a warning. A syntax error always fails the capture. Default: true. */
                fail_on_script_error?: boolean;
                /**
                 * @description Whether a redirect to another URL fails the capture: never, cross_site or always. Default: never.
                 * @enum {string}
                 */
                fail_on_redirect?: "never" | "cross_site" | "always";
                /** @description Fails the capture if a script of the page throws an uncaught error. Default: false. */
                fail_on_page_error?: boolean;
                /** @description Fails the capture if the site shows a bot challenge. Default: false. */
                fail_on_bot_challenge?: boolean;
                /** @description Captures the whole scrollable page instead of the viewport. Default: false. */
                full_page?: boolean;
                /** @description Maximum height of a full-page picture in CSS pixels, 1000 to 50000. Default: 25000. */
                full_page_max_height?: number;
                /** @description Scrolls smoothly down the page before a full-page picture, so that content that appears on scroll is captured. Default: false. */
                full_page_scroll?: boolean;
                /** @description Milliseconds to wait after each scroll of full_page_scroll, 0 to 10000. Default: 0. */
                full_page_scroll_delay?: number;
                /** @description CSS pixels of each scroll of full_page_scroll, 100 to 5000. Default: the height of the viewport. */
                full_page_scroll_by?: number;
                /** @description Maximum number of scrolls of full_page_scroll, 1 to 500, for pages with infinite scrolling. Default: as many as full_page_max_height needs. */
                full_page_max_scrolls?: number;
                /** @description Scrolls quickly down the page and back before a full-page picture, in at most two seconds, so that lazy content loads. For a slow scroll, use full_page_scroll. Default: true. */
                full_page_sweep?: boolean;
                /** @description Loads images and frames with loading=lazy immediately for a full-page picture. Default: true. */
                full_page_eager_images?: boolean;
                /**
                 * @description How to capture a full page: native takes one picture, stitch joins sections, auto uses native up to a height of 8192 device pixels. Above 16384, native stitches too. Default: auto.
                 * @enum {string}
                 */
                full_page_algorithm?: "auto" | "native" | "stitch";
                /** @description Height of a section in device pixels, 500 to 16000, for full_page_algorithm stitch and full_page_fixed_elements keep. Default: 4096. */
                full_page_section_height?: number;
                /**
                 * @description How to show fixed and sticky elements in a full page: once shows them where they are at the top of the page, and bars at the bottom of the window at the end of the picture; hide hides them; keep shows them in every section of a stitched page. In the picture of an element or region that the window does not contain, once shows them where a full page does, and keep where they are in the window. Default: once.
                 * @enum {string}
                 */
                full_page_fixed_elements?: "once" | "hide" | "keep";
                /** @description Keeps the height of elements that are as tall as the viewport constant during a full-page capture. Needed only for pages that grow because of scripts or expanded panels. Default: false. */
                full_page_fix_viewport_units?: boolean;
                /** @description Captures the whole width of a full page that is wider than the viewport. Default: false. */
                full_page_full_width?: boolean;
                /** @description CSS selector of the part that scrolls instead of the page, auto for the largest one, or none; a full page shows all of it. none also leaves a locked page as it is, even if its dialog is hidden. Lists that draw only the rows in view, editors, dialogs and frames of other origins are left as they are. Default: the part that fills at least half of the viewport of a page that does not scroll itself, unless it is one of several panes. */
                full_page_scroll_container?: string;
                /**
                 * @description How to handle a page that is longer than full_page_max_height or than its format allows: crop cuts it, scale shrinks the picture, fail returns TOO_LARGE. Default: crop.
                 * @enum {string}
                 */
                full_page_overflow?: "crop" | "scale" | "fail";
                /** @description CSS selector of an element to capture instead of the viewport. The first visible match is captured, as far as boxes around it show it. A hidden match is waited for at most 5 seconds in a page that loads nothing. Default: none. */
                selector?: string;
                /**
                 * @description How to capture selector: element scrolls to it first, clip cuts its box out of the page without scrolling. Default: element.
                 * @enum {string}
                 */
                selector_algorithm?: "element" | "clip";
                /** @description Captures the area that contains all visible matches of selector. Default: false. */
                selector_all?: boolean;
                /** @description CSS pixels of the page around selector to capture too, 0 to 1000. Default: 0. */
                selector_padding?: number;
                /** @description Hides elements over or beside selector, such as fixed headers. Default: false. */
                selector_isolate?: boolean;
                /** @description Scrolls to selector before the capture, so that lazy content loads. Default: true. */
                selector_scroll_into_view?: boolean;
                /** @description Fails the capture with SELECTOR_NOT_FOUND if selector matches no visible element; if false, captures the viewport with a warning. Default: false. */
                error_on_selector_not_found?: boolean;
                /** @description Left edge of a region of the page to capture, in CSS pixels, 0 to 50000. Default: none. */
                clip_x?: number;
                /** @description Top edge of a region of the page to capture, in CSS pixels, 0 to 50000. Default: none. */
                clip_y?: number;
                /** @description Width of a region of the page to capture, in CSS pixels, 1 to 20000. Default: none. */
                clip_width?: number;
                /** @description Height of a region of the page to capture, in CSS pixels, 1 to 50000. Default: none. */
                clip_height?: number;
                /** @description Captures content outside the viewport without resizing the viewport. If false, a region ends at the edge of the viewport, and a full page enlarges the viewport to at most 16384 pixels. Default: true. */
                capture_beyond_viewport?: boolean;
                /**
                 * @description Format of the file: png, jpeg, webp, avif or pdf, and for a video mp4, webm or gif. Default: png.
                 * @enum {string}
                 */
                format?: "png" | "jpeg" | "webp" | "avif" | "pdf" | "mp4" | "webm" | "gif";
                /** @description Quality of a jpeg, webp or avif, 0 to 100. A higher value looks better and makes a larger file. No effect on other formats. Default: 90. */
                image_quality?: number;
                /** @description Makes the page background transparent; png only. Default: false. */
                omit_background?: boolean;
                /** @description Width to resize the picture to in pixels, 1 to 10000. Default: none. */
                image_width?: number;
                /** @description Height to resize the picture to in pixels, 1 to 50000. Default: none. */
                image_height?: number;
                /**
                 * @description How to fit the picture into both image_width and image_height: cover cuts, contain pads, fill distorts, inside stays within both, outside covers both. Default: inside.
                 * @enum {string}
                 */
                image_fit?: "cover" | "contain" | "fill" | "inside" | "outside";
                /**
                 * @description Part of the picture to keep if image_fit cuts: top, bottom, left, right, center, or the most detailed part by entropy or attention. Default: top.
                 * @enum {string}
                 */
                image_position?: "top" | "center" | "bottom" | "left" | "right" | "entropy" | "attention";
                /** @description Allows image_width and image_height to enlarge the picture, up to the limits of its format. Default: false. */
                image_upscale?: boolean;
                /** @description Color that fills padding and, in a jpeg, transparent areas: a hex value, rgb(), rgba() or one of the 17 names of CSS 2. Default: #ffffff. */
                image_background?: string;
                /** @description Background color for pages that set none: a hex value, rgb(), rgba() or one of the 17 names of CSS 2. Default: none. */
                background_color?: string;
                /** @description Removes borders of one color. Default: false. */
                image_trim?: boolean;
                /** @description Maximum color difference within a border for image_trim, 0 to 255. Default: 10. */
                image_trim_threshold?: number;
                /** @description Pixels of image_background around the picture, 0 to 500. Default: 0. */
                image_padding?: number;
                /** @description Encodes a webp or avif without loss. A png is always lossless. Default: false. */
                image_lossless?: boolean;
                /** @description Encodes a progressive jpeg or an interlaced png. Default: false. */
                image_progressive?: boolean;
                /** @description Number of colors in the palette of a png, 2 to 256; 0 disables the palette. A palette makes the file much smaller. Default: 0. */
                image_palette_colors?: number;
                /** @description Maximum size of the file in bytes, 10240 to 52428800. Quality, then dimensions, are reduced until the file fits. Default: none. */
                image_max_bytes?: number;
                /** @description Converts the picture to grayscale. Default: false. */
                image_grayscale?: boolean;
                /** @description Encodes a png faster; if false, encoding takes longer and the file is smaller. Default: true. */
                optimize_for_speed?: boolean;
                /** @description Width of a thumbnail in pixels, 16 to 2000. Default: none. */
                thumbnail_width?: number;
                /** @description Height of a thumbnail in pixels, 16 to 2000. Together with thumbnail_width, the thumbnail shows the top part of the picture. Default: none. */
                thumbnail_height?: number;
                /**
                 * @description Format of the thumbnail: jpeg, png or webp. Default: the format of the picture, or webp for avif.
                 * @enum {string}
                 */
                thumbnail_format?: "jpeg" | "png" | "webp";
                /**
                 * @description Stores a small copy beside the picture: fit is one picture, of a taller page the first slice; slices has up to preview_max_slices, one behind the other in one file. Default: none.
                 * @enum {string}
                 */
                preview?: "fit" | "slices";
                /**
                 * @description Format of each slice: webp or jpeg. Default: webp.
                 * @enum {string}
                 */
                preview_format?: "webp" | "jpeg";
                /** @description Maximum width and height of each slice in pixels, 896 to 2000. Default: 1568. */
                preview_max_side?: number;
                /** @description Maximum bytes of each slice, 65536 to 1048576. Quality is reduced until the slice fits, then its height. Default: 262144. */
                preview_max_bytes?: number;
                /** @description Maximum number of slices, for preview slices, 1 to 12. Default: 12. */
                preview_max_slices?: number;
                /**
                 * @description Paper format of a pdf: a0 to a6, letter, legal, tabloid or ledger. Default: a4.
                 * @enum {string}
                 */
                pdf_paper_format?: "a0" | "a1" | "a2" | "a3" | "a4" | "a5" | "a6" | "letter" | "legal" | "tabloid" | "ledger";
                /** @description Width of the sheet with a unit, such as 210mm, 8.5in or 800px. Overrides pdf_paper_format. Default: none. */
                pdf_width?: string;
                /** @description Height of the sheet with a unit, such as 297mm or 11in. Overrides pdf_paper_format. Default: none. */
                pdf_height?: string;
                /** @description Prints in landscape orientation. Default: false. */
                pdf_landscape?: boolean;
                /** @description Prints backgrounds. Default: true. */
                pdf_print_background?: boolean;
                /** @description Scale of the content, 0.1 to 2. Default: 1. */
                pdf_scale?: number;
                /** @description Margin at the top, such as 10mm. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_top?: string;
                /** @description Margin on the right. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_right?: string;
                /** @description Margin at the bottom. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_bottom?: string;
                /** @description Margin on the left. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_left?: string;
                /** @description Pages to include, such as 1-3,5. The capture fails if no page matches. Default: all. */
                pdf_page_ranges?: string;
                /** @description Prints all content on one sheet that is as tall as the content. The width is pdf_width or that of pdf_paper_format. Page breaks, and @page rules of the page, have no effect. Default: false. */
                pdf_fit_one_page?: boolean;
                /** @description Prefers the page’s own CSS @page size. Default: false. */
                pdf_prefer_css_page_size?: boolean;
                /** @description HTML to print at the top of each sheet within pdf_margin_top, at most 16384 characters. The browser fills in spans with class date, title, url, pageNumber or totalPages. Images can use data: URLs only. Default: none. */
                pdf_header_template?: string;
                /** @description HTML to print at the bottom of each sheet, with the rules of pdf_header_template, at most 16384 characters. Default: none. */
                pdf_footer_template?: string;
                /** @description Tags the content for screen readers. Default: false. */
                pdf_tagged?: boolean;
                /** @description Creates bookmarks from the headings, and tags the content too. Default: false. */
                pdf_outline?: boolean;
                /** @description Length of the video in seconds, 1 to 120; a gif has at most 15. Default: 5. */
                video_duration?: number;
                /** @description Frames in each second, 5 to 60. A video has at most 3600 frames. Default: 30. */
                video_fps?: number;
                /** @description Width of the video in pixels, 64 to 3840; the height follows. Default: the width of the viewport × device_scale_factor. */
                video_width?: number;
                /** @description Quality of the video, 0 to 100. A higher value makes a larger file. Default: 70. */
                video_quality?: number;
                /**
                 * @description What the video shows: record shows the page as it moves, scroll scrolls smoothly to its end. Default: record.
                 * @enum {string}
                 */
                video_scenario?: "record" | "scroll";
                /** @description Milliseconds of one scroll from the top to the end, 100 to 120000. Default: what video_duration leaves beside the pauses; with video_scroll_back, half of it. */
                video_scroll_duration?: number;
                /**
                 * @description Speed curve of the scroll: linear, ease_in, ease_out or ease_in_out. Default: ease_in_out.
                 * @enum {string}
                 */
                video_scroll_easing?: "linear" | "ease_in" | "ease_out" | "ease_in_out";
                /** @description Scrolls back to the top after the pause at the end. Default: false. */
                video_scroll_back?: boolean;
                /** @description Milliseconds to rest before the scroll and at its end, 0 to 10000. Default: 500. */
                video_scroll_pause?: number;
                /** @description Stores the first frame as a jpeg beside the video. Default: false. */
                video_poster?: boolean;
                /**
                 * @description Clock of the page: exact advances it frame by frame, so that a slow machine drops no frame; real records as it happens, for pages that play sound or talk to servers. Default: exact.
                 * @enum {string}
                 */
                video_timing?: "exact" | "real";
                /** @description Stores the page’s final HTML, with the values of visible fields and without passwords, beside the capture. Default: false. */
                save_html?: boolean;
                /** @description Stores the page’s visible text, with that of fields, buttons and style sheets and without passwords, beside the capture. Default: false. */
                save_text?: boolean;
                /** @description Stores the page’s article as Markdown, or the whole page if it has no article, beside the capture. Default: false. */
                save_markdown?: boolean;
                /** @description Stores the page’s links as JSON, with their URLs, texts and whether they stay within the site, beside the capture. Default: false. */
                save_links?: boolean;
                /** @description Stores the page with its images and styles as one MHTML file, which can contain what mask_selectors hides, beside the capture. Default: false. */
                save_mhtml?: boolean;
                /** @description Stores the page’s requests as a HAR file, without cookies, credentials or bodies, which can contain what mask_selectors hides, beside the capture. Default: false. */
                save_har?: boolean;
                /** @description Stores console messages and uncaught errors, which can contain what mask_selectors hides, as JSON beside the capture. Default: false. */
                save_console?: boolean;
                /** @description Stores the accessibility tree as JSON beside the capture. Default: false. */
                save_accessibility_tree?: boolean;
                /** @description Records the page’s title. Always on. Default: true. */
                metadata_page_title?: boolean;
                /** @description Records the redirects that led to final_url in the record’s metadata. Default: false. */
                metadata_final_url?: boolean;
                /** @description Records the HTTP status of the page. Always on. Default: true. */
                metadata_http_response_status_code?: boolean;
                /** @description Records the response headers of the page, except cookies, in the record’s metadata. Default: false. */
                metadata_http_response_headers?: boolean;
                /** @description Records width and height of the picture in the record’s metadata. Default: false. */
                metadata_image_size?: boolean;
                /** @description Records Open Graph and Twitter tags and the description in the record’s metadata. Default: false. */
                metadata_open_graph?: boolean;
                /** @description Records the URL of the page’s best icon in the record’s metadata. Default: false. */
                metadata_icon?: boolean;
                /** @description Records the font families that the page uses in the record’s metadata. Default: false. */
                metadata_fonts?: boolean;
                /** @description Records the duration of each step and of the page load, in milliseconds, in the record’s metadata. Default: false. */
                metadata_timings?: boolean;
                /** @description Records the file’s SHA-256 and a perceptual hash of the picture in the record’s metadata. Default: false. */
                metadata_content_hash?: boolean;
                /** @description Records the picture’s main colors in the record’s metadata. Default: false. */
                metadata_palette?: boolean;
                /** @description Records the first 100 URLs that the page links to in the record’s metadata. Default: false. */
                metadata_links?: boolean;
                /** @description Records the number of blocked requests in the record’s metadata. Default: false. */
                metadata_blocked_requests?: boolean;
                /** @description Id of an earlier completed screenshot of the account, with whose picture to compare this one. The record then has comparison. Default: none. */
                compare_to?: string;
                /** @description Share of changed pixels above which the picture counts as changed, 0 to 1. With 0, one pixel is a change. Default: none, so that each changed region of a few pixels is a change. */
                compare_threshold?: number;
                /** @description Color difference up to which two pixels count as equal, 0 to 1; 1 is black and white. Default: 0.1. */
                compare_color_tolerance?: number;
                /** @description Counts changed pixels at the smoothed edges of text and shapes too. If false, they are detected and ignored. Default: false. */
                compare_antialiasing?: boolean;
                /** @description HTTP statuses from 400 on with which the page is compared, such as 404 or 500-511, at most 20. Other error pages are not compared. Default: none. */
                compare_accept_status?: string[];
                /** @description CSS selectors, or regions with x, y, width and height (or left, top, width and height) in CSS pixels of the page, that are not compared, at most 20. The areas of the selectors in both pictures are ignored, if both captures have the selector. Default: none. */
                compare_ignore?: (string | ({
                    /** @description CSS selector of elements to ignore. */
                    selector?: string;
                    /** @description Left edge of a region in CSS pixels of the page, 0 to 50000. */
                    x?: number;
                    /** @description Top edge, 0 to 50000. */
                    y?: number;
                    /** @description The same as x. Use it in YAML. */
                    left?: number;
                    /** @description The same as y. Use it in YAML, where y without quotation marks is a boolean. */
                    top?: number;
                    /** @description Width, 1 to 50000. */
                    width?: number;
                    /** @description Height, 1 to 50000. */
                    height?: number;
                } & (unknown | ((unknown | unknown) & (unknown | unknown)))))[];
                /** @description Your own bucket, to which the picture is copied in addition to the bucket of this service. Default: none. */
                storage_bucket?: string;
                /** @description URL of the S3-compatible store that has storage_bucket: https, host and port. Default: none. */
                storage_endpoint?: string;
                /** @description Region of storage_bucket, at most 64 characters. Default: us-east-1. */
                storage_region?: string;
                /** @description Whether storage_bucket is in the path of requests. False: it is in the host name (virtual-host style), unless the endpoint is an IP address or the bucket has a dot. Default: true. */
                storage_path_style?: boolean;
                /** @description Key of the copy, at most 512 characters. {id}, {host}, {date} and {format} are replaced with the screenshot’s id, the page’s host, the UTC date and the format. Default: {id}.{format}. */
                storage_path?: string;
                /** @description Request headers by name, at most 64. The browser sends them to the page’s own origin, unless headers_scope allows more. That of html and markdown is html_base_url. Default: none. */
                headers?: {
                    [key: string]: string;
                };
                /** @description Cookies to set before the page is opened, at most 100. Default: none. */
                cookies?: ({
                    /** @description Name, at most 256 characters. */
                    name: string & (unknown & unknown);
                    /** @description Value, at most 4096 characters, without spaces at its ends. */
                    value: string & (unknown & unknown);
                    /** @description Host that receives the cookie; with a leading dot, its subdomains too. Default: the host of the page. */
                    domain?: string;
                    /** @description Path prefix that receives the cookie. Default: /. */
                    path?: string & (unknown & unknown);
                    /** @description Expiry as Unix time in seconds. Default: the end of the capture. */
                    expires?: number;
                    /** @description Hides the cookie from scripts. Default: false. */
                    http_only?: boolean;
                    /** @description Sends the cookie over https only. Default: false. */
                    secure?: boolean;
                    /**
                     * @description Attribute SameSite: Strict, Lax or None. Default: the browser’s default.
                     * @enum {string}
                     */
                    same_site?: "Strict" | "Lax" | "None";
                } | string)[];
                /** @description Value of the header Authorization, at most 8192 characters. The browser sends it to the page’s own origin, unless headers_scope allows more. Default: none. */
                authorization?: string;
                /** @description User name for HTTP authentication at the page’s own origin, at most 1024 characters, without a colon. Default: none. */
                basic_auth_username?: string;
                /** @description Password for basic_auth_username, at most 1024 characters. Default: none. */
                basic_auth_password?: string;
                /** @description Entries of localStorage by name, at most 64 KiB in total. They are set for the page’s own origin before its first script. Default: none. */
                local_storage?: {
                    [key: string]: string;
                };
                /** @description Access key id for storage_bucket, at most 256 characters. Default: none. */
                storage_access_key_id?: string;
                /** @description Secret access key for storage_bucket, at most 256 characters. Default: none. */
                storage_secret_access_key?: string;
                /** @description User name for proxy, at most 256 characters. Default: none. */
                proxy_username?: string;
                /** @description Password for proxy, at most 256 characters. Default: none. */
                proxy_password?: string;
            };
        };
        /** @description A page to capture. `url` is required, here or in `options`. The one at the top level takes precedence. */
        CreateScreenshot: {
            /**
             * Format: uri
             * @description URL of the page: public, http or https, at most 8192 characters. User name and password in it are used for basic authentication and are never shown.
             */
            url?: string;
            /** @description Capture options. All are optional. Options without a value are not stored. */
            options?: {
                /** @description Width of the viewport in CSS pixels, 1 to 7680. Default: 1920. */
                viewport_width?: number;
                /** @description Height of the viewport in CSS pixels, 1 to 7680. Default: 1080. */
                viewport_height?: number;
                /** @description Device pixels per CSS pixel, 0.1 to 5. Default: 1. */
                device_scale_factor?: number;
                /** @description Device to emulate: its viewport, pixel ratio, touch and user agent. Other options override these. Default: none. */
                device?: string;
                /** @description Sets the CSS media feature prefers-color-scheme to dark. Default: false. */
                dark_mode?: boolean;
                /** @description The page as HTML, instead of url, 1 to 2097152 characters. The browser still loads its resources from the network. Default: none. */
                html?: string;
                /** @description The page as Markdown, instead of url, 1 to 1048576 characters. It is rendered on a white background, with tables, task lists, and headings whose ids are those of GitHub. HTML in it is shown as text. Default: none. */
                markdown?: string;
                /** @description Base URL of html or markdown for relative links, http or https. Default: none. */
                html_base_url?: string;
                /** @description URL in the header Referer of the page’s request, http or https. Default: none. */
                referer?: string;
                /** @description Blocks every request of html or markdown, so that only inline content is shown. Default: false. */
                offline?: boolean;
                /** @description User agent that servers and scripts see, at most 1024 characters. Client hints match it, and service workers are blocked. Default: the device’s, else the browser’s own. */
                user_agent?: string;
                /** @description Platform that scripts and client hints report, such as Win32, MacIntel or Linux x86_64, at most 64 characters. Workers report the browser’s own. Default: the platform that matches user_agent. */
                user_agent_platform?: string;
                /** @description Header Accept-Language of every request, at most 256 characters; does not change locale. Default: derived from locale. */
                accept_language?: string;
                /**
                 * @description Which requests carry headers and authorization: same_origin for the page’s own origin, same_site for hosts of its site, all for every request, also to third parties. Default: same_origin.
                 * @enum {string}
                 */
                headers_scope?: "same_origin" | "same_site" | "all";
                /** @description URL of the proxy for the page’s traffic: http, https or socks5, with host and port. A user name and password in it become proxy_username and proxy_password. Default: none. */
                proxy?: string;
                /** @description Hosts to reach without the proxy, at most 50; *.example.com matches all subdomains. Default: none. */
                proxy_bypass?: string[];
                /** @description Accepts invalid TLS certificates. Default: false. */
                ignore_https_errors?: boolean;
                /**
                 * @description HTTP cache: batch shares scripts, style sheets, fonts and images among the captures of one batch; off requests them again for each capture. The cache stores only fresh responses to requests without cookies or credentials. No effect outside a batch. Default: batch.
                 * @enum {string}
                 */
                http_cache?: "off" | "batch";
                /** @description Latitude of the emulated geolocation in degrees, -90 to 90. Default: none, geolocation is denied. */
                geolocation_latitude?: number;
                /** @description Longitude of the emulated geolocation in degrees, -180 to 180. Default: none. */
                geolocation_longitude?: number;
                /** @description Accuracy of the emulated geolocation in meters, 0 to 100000. Default: 0. */
                geolocation_accuracy?: number;
                /** @description IANA time zone of the page, such as Europe/Vienna, in capital or small letters. Default: UTC. */
                timezone?: string;
                /** @description Language and region of the page as a BCP 47 tag, such as de-AT. Sets the formats of scripts, navigator.language and Accept-Language. What the browser draws by itself stays American English: form fields for dates, times, months, weeks, numbers and files, buttons without a label, and validation messages. The lang attribute of the page decides the forms of Han letters; without it they are those of simplified Chinese. Default: en-US. */
                locale?: string;
                /** @description Time at which the clock of each document starts when it loads, ISO 8601 with a zone, 1990 to 2100. A day alone begins at 00:00 UTC. It runs on, so that delayed work of the page happens. A pdf has this time as its date. Default: none, the clock is the real one. */
                fixed_time?: string;
                /** @description Lays the page out as a phone does: honors its viewport tag and overlays scroll bars. Default: the device’s, else false. */
                viewport_mobile?: boolean;
                /** @description Reports a touch screen to the page. Default: the device’s, else false. */
                viewport_has_touch?: boolean;
                /** @description Makes the longer side of the window its width. Default: false. */
                viewport_landscape?: boolean;
                /**
                 * @description CSS media type: screen or print. Default: screen, and print for a pdf.
                 * @enum {string}
                 */
                media_type?: "screen" | "print";
                /** @description Sets the CSS media feature prefers-reduced-motion to reduce. Default: false. */
                reduced_motion?: boolean;
                /** @description Replaces the page’s colors with a few high-contrast colors. Default: false. */
                forced_colors?: boolean;
                /**
                 * @description CSS media feature prefers-contrast: no_preference, more or less. Default: no_preference.
                 * @enum {string}
                 */
                prefers_contrast?: "no_preference" | "more" | "less";
                /** @description Other CSS media features by name, such as color-gamut: p3, at most 20. Default: none. */
                media_features?: {
                    [key: string]: string;
                };
                /** @description Darkens pages that have no dark color scheme. Default: false. */
                dark_mode_force?: boolean;
                /** @description Runs the page’s scripts. Scripts in these options run in either case. Default: true. */
                javascript_enabled?: boolean;
                /** @description Disables the page’s Content-Security-Policy, so that scripts can add blocked content. Default: false. */
                bypass_csp?: boolean;
                /** @description Zoom of the browser, 0.25 to 5: the window has fewer and larger CSS pixels, so media queries and vh follow. The picture has the same size in pixels. For a pdf, magnifies the page. Default: 1. */
                page_zoom?: number;
                /** @description CSS to add to the page, at most 262144 characters. Default: none. */
                styles?: string;
                /** @description JavaScript to run in the page after it has loaded, at most 262144 characters. If javascript_enabled is false, its timers never fire. Default: none. */
                scripts?: string;
                /** @description CSS selector of an element to click before the picture is taken. A new tab that it opens replaces the page. Default: none. */
                click?: string;
                /** @description JavaScript to run in every frame before the page’s own scripts, at most 262144 characters. Default: none. */
                init_script?: string;
                /** @description States to wait for again after scripts, if scripts change the page or navigate: load, domcontentloaded, networkidle. Default: none. */
                scripts_wait_until?: ("load" | "domcontentloaded" | "networkidle")[];
                /** @description URLs of scripts to run in the page after it has loaded, at most 10. Default: none. */
                script_urls?: string[];
                /** @description URLs of style sheets to add to the page, at most 10. Default: none. */
                style_urls?: string[];
                /** @description CSS selectors of elements to remove from the layout, at most 100. Default: none. */
                hide_selectors?: string[];
                /** @description Applies hide_selectors inside shadow roots and frames too. All other options search them always. Default: false. */
                include_shadow_dom?: boolean;
                /** @description CSS selectors of elements to cover with a box of one color, such as private or changing content, at most 50. Their content is in no file except HAR, MHTML and console messages. In a pdf, the elements are left blank instead. Default: none. */
                mask_selectors?: string[];
                /** @description CSS color of the boxes of mask_selectors. Default: #ff00ff. */
                mask_color?: string;
                /** @description Fails the capture if click matches no element; if false, the record has a warning. Default: true. */
                error_on_click_selector_not_found?: boolean;
                /** @description CSS selector of elements to click one after the other, at most 50. Default: none. */
                click_all?: string;
                /** @description CSS selector of an element to hover over while the picture is taken. Default: none. */
                hover?: string;
                /** @description Fails the capture if hover matches no element; if false, the record has a warning. Default: true. */
                error_on_hover_selector_not_found?: boolean;
                /** @description Key to press after the page has loaded, such as Escape, Enter, PageDown or Control+A. Default: none. */
                press_key?: string;
                /** @description CSS selector of an element to scroll to before the picture is taken. Default: none. */
                scroll_into_view?: string;
                /** @description CSS pixels to scroll additionally after scroll_into_view, -10000 to 10000. Default: 0. */
                scroll_into_view_adjust_top?: number;
                /** @description Horizontal scroll position in CSS pixels, 0 to 50000. Default: 0. */
                scroll_x?: number;
                /** @description Vertical scroll position in CSS pixels, 0 to 50000. Default: 0. */
                scroll_y?: number;
                /** @description Stops animations and transitions of CSS, and animations of SVG elements, before the picture is taken: finite ones show their last frame, infinite ones their first. Animated image files go on. Default: false. */
                disable_animations?: boolean;
                /** @description Stops audio, and stops videos at their first frame. Default: false. */
                pause_videos?: boolean;
                /** @description Blocks advertisements. Default: false. */
                block_ads?: boolean;
                /** @description Blocks analytics scripts and other trackers. Default: false. */
                block_trackers?: boolean;
                /** @description Responds to cookie consent banners, and hides the banners that it cannot respond to. Default: false. */
                block_cookie_banners?: boolean;
                /**
                 * @description What block_cookie_banners does: opt_out rejects cookies, opt_in accepts them, hide only hides the banner. Default: opt_out.
                 * @enum {string}
                 */
                cookie_banner_action?: "opt_out" | "opt_in" | "hide";
                /** @description Hides elements that look like banners or overlays, even if no filter list has them. Default: false. */
                block_banners_by_heuristics?: boolean;
                /** @description Blocks chat widgets and similar helpers. Default: false. */
                block_chats?: boolean;
                /** @description Blocks buttons and embedded posts of social networks. Default: false. */
                block_socials?: boolean;
                /** @description Blocks newsletter pop-ups, app banners, notification requests and similar annoyances. Default: false. */
                block_annoyances?: boolean;
                /** @description URL patterns of requests to block, at most 100; * matches any text, as in *://*.example.com/*. Default: none. */
                block_requests?: string[];
                /** @description Types of requests to block: document (frames), stylesheet, image, media, font, script, texttrack, xhr, fetch, eventsource, websocket, manifest, other. The browser does not distinguish xhr from fetch. Default: none. */
                block_resources?: ("document" | "stylesheet" | "image" | "media" | "font" | "script" | "texttrack" | "xhr" | "fetch" | "eventsource" | "websocket" | "manifest" | "other")[];
                /** @description URL patterns of requests that no other option blocks, at most 100; * matches any text. Default: none. */
                allow_requests?: string[];
                /** @description Blocks every request to a site other than the page’s own. Default: false. */
                block_third_party?: boolean;
                /** @description Blocks service workers. Always on when another option filters requests. Default: false. */
                block_service_workers?: boolean;
                /** @description Milliseconds to wait before the picture is taken, 0 to 60000. Default: 0. */
                delay?: number;
                /** @description Maximum time for the page to load in milliseconds, 1000 to 180000. Default: 30000. */
                timeout?: number;
                /** @description CSS selector of an element to wait for before the picture is taken. Default: none. */
                wait_for_selector?: string;
                /** @description States to wait for within timeout: load, domcontentloaded, networkidle, commit. All must be reached. Default: load. */
                wait_until?: ("load" | "domcontentloaded" | "networkidle" | "commit")[];
                /** @description Maximum time for a whole attempt in milliseconds, 5000 to 600000. Default: the sum of the other time limits. */
                job_timeout?: number;
                /** @description Maximum time for taking the picture or recording the video, and for comparing it, in milliseconds, 1000 to 600000. Default: 30000, with full_page 2 more for each pixel of full_page_max_height, at most 120000; for a video 200 more for each frame, and in proportion more above 1920 × 1080, at most 600000. */
                capture_timeout?: number;
                /**
                 * @description State that wait_for_selector waits for: visible, or attached for any element in the DOM. Default: visible.
                 * @enum {string}
                 */
                wait_for_selector_state?: "visible" | "attached";
                /** @description Maximum wait in milliseconds for each selector, expression, click and hover, 0 to 120000. Default: timeout. */
                wait_for_selector_timeout?: number;
                /** @description Number of elements that wait_for_selector must match, 1 to 1000. Default: 1. */
                wait_for_selector_count?: number;
                /** @description CSS selector that must match no visible element before the picture is taken. Default: none. */
                wait_for_selector_gone?: string;
                /** @description JavaScript expression that must become true before the picture is taken, at most 8192 characters. Default: none. */
                wait_for_function?: string;
                /** @description Maximum wait in milliseconds for fonts and images in the picture after all other waits, 0 to 30000; 0 disables it. Default: 3000. */
                wait_for_fonts_timeout?: number;
                /** @description Waits until the images in the picture are loaded, at most wait_for_selector_timeout: also backgrounds, posters, images in components, and images added meanwhile. Default: false. */
                wait_for_images?: boolean;
                /** @description Maximum wait in milliseconds for animations, timers and late requests to end, 0 to 10000; 0 disables it. The page’s time runs faster than real time; the wait ends when either reaches the maximum. While the page gains content or receives data, it takes up to 8 seconds, with compare_to 15. With full_page, content that appears on scroll is shown too. Endless animations show the same phase in each picture. Default: 2000. */
                stability_timeout?: number;
                /** @description Milliseconds without a request after which networkidle is reached, 100 to 10000. Default: 500. */
                network_idle_time?: number;
                /** @description Maximum number of open requests for networkidle, 0 to 10. Default: 0. */
                network_idle_max_connections?: number;
                /** @description Maximum wait for networkidle in milliseconds, 0 to 180000; after it, the picture is taken with a warning. Default: timeout. */
                network_idle_timeout?: number;
                /** @description Milliseconds without a DOM change before the picture is taken, 0 to 10000. Default: 0. */
                dom_idle_time?: number;
                /** @description Takes the picture with a warning if a wait times out, instead of failing the capture. Default: false. */
                best_attempt?: boolean;
                /** @description Maximum number of retries after a transient failure, 0 to 5. Default: 1. */
                retries?: number;
                /** @description Milliseconds to wait before each retry, 0 to 60000. Default: 1000. */
                retry_delay?: number;
                /**
                 * @description How to handle a picture that shows nearly one color: accept keeps it, retry retries once and then keeps it with a warning, fail retries once and then fails. Default: retry.
                 * @enum {string}
                 */
                blank_page_action?: "accept" | "retry" | "fail";
                /** @description HTTP statuses of the page that fail the capture, such as 404 or 500-511, at most 20. Default: none. */
                fail_on_status?: string[];
                /** @description Texts that fail the capture if the page shows one of them, at most 20. Default: none. */
                fail_if_content_contains?: string[];
                /** @description Texts that fail the capture if one of them is missing from the page, at most 20. Default: none. */
                fail_if_content_missing?: string[];
                /** @description CSS selectors that fail the capture if an element matches one of them, at most 20. Default: none. */
                fail_if_selector_present?: string[];
                /** @description URL patterns of requests whose failure fails the capture, at most 20; * matches any text. Default: none. */
                fail_if_request_failed?: string[];
                /** @description Fails the capture if scripts throws an error; if false, the record has a warning. A syntax error always fails the capture. Default: true. */
                fail_on_script_error?: boolean;
                /**
                 * @description Whether a redirect to another URL fails the capture: never, cross_site or always. Default: never.
                 * @enum {string}
                 */
                fail_on_redirect?: "never" | "cross_site" | "always";
                /** @description Fails the capture if a script of the page throws an uncaught error. Default: false. */
                fail_on_page_error?: boolean;
                /** @description Fails the capture if the site shows a bot challenge. Default: false. */
                fail_on_bot_challenge?: boolean;
                /** @description Captures the whole scrollable page instead of the viewport. Default: false. */
                full_page?: boolean;
                /** @description Maximum height of a full-page picture in CSS pixels, 1000 to 50000. Default: 25000. */
                full_page_max_height?: number;
                /** @description Scrolls smoothly down the page before a full-page picture, so that content that appears on scroll is captured. Default: false. */
                full_page_scroll?: boolean;
                /** @description Milliseconds to wait after each scroll of full_page_scroll, 0 to 10000. Default: 0. */
                full_page_scroll_delay?: number;
                /** @description CSS pixels of each scroll of full_page_scroll, 100 to 5000. Default: the height of the viewport. */
                full_page_scroll_by?: number;
                /** @description Maximum number of scrolls of full_page_scroll, 1 to 500, for pages with infinite scrolling. Default: as many as full_page_max_height needs. */
                full_page_max_scrolls?: number;
                /** @description Scrolls quickly down the page and back before a full-page picture, in at most two seconds, so that lazy content loads. For a slow scroll, use full_page_scroll. Default: true. */
                full_page_sweep?: boolean;
                /** @description Loads images and frames with loading=lazy immediately for a full-page picture. Default: true. */
                full_page_eager_images?: boolean;
                /**
                 * @description How to capture a full page: native takes one picture, stitch joins sections, auto uses native up to a height of 8192 device pixels. Above 16384, native stitches too. Default: auto.
                 * @enum {string}
                 */
                full_page_algorithm?: "auto" | "native" | "stitch";
                /** @description Height of a section in device pixels, 500 to 16000, for full_page_algorithm stitch and full_page_fixed_elements keep. Default: 4096. */
                full_page_section_height?: number;
                /**
                 * @description How to show fixed and sticky elements in a full page: once shows them where they are at the top of the page, and bars at the bottom of the window at the end of the picture; hide hides them; keep shows them in every section of a stitched page. In the picture of an element or region that the window does not contain, once shows them where a full page does, and keep where they are in the window. Default: once.
                 * @enum {string}
                 */
                full_page_fixed_elements?: "once" | "hide" | "keep";
                /** @description Keeps the height of elements that are as tall as the viewport constant during a full-page capture. Needed only for pages that grow because of scripts or expanded panels. Default: false. */
                full_page_fix_viewport_units?: boolean;
                /** @description Captures the whole width of a full page that is wider than the viewport. Default: false. */
                full_page_full_width?: boolean;
                /** @description CSS selector of the part that scrolls instead of the page, auto for the largest one, or none; a full page shows all of it. none also leaves a locked page as it is, even if its dialog is hidden. Lists that draw only the rows in view, editors, dialogs and frames of other origins are left as they are. Default: the part that fills at least half of the viewport of a page that does not scroll itself, unless it is one of several panes. */
                full_page_scroll_container?: string;
                /**
                 * @description How to handle a page that is longer than full_page_max_height or than its format allows: crop cuts it, scale shrinks the picture, fail returns TOO_LARGE. Default: crop.
                 * @enum {string}
                 */
                full_page_overflow?: "crop" | "scale" | "fail";
                /** @description CSS selector of an element to capture instead of the viewport. The first visible match is captured, as far as boxes around it show it. A hidden match is waited for at most 5 seconds in a page that loads nothing. Default: none. */
                selector?: string;
                /**
                 * @description How to capture selector: element scrolls to it first, clip cuts its box out of the page without scrolling. Default: element.
                 * @enum {string}
                 */
                selector_algorithm?: "element" | "clip";
                /** @description Captures the area that contains all visible matches of selector. Default: false. */
                selector_all?: boolean;
                /** @description CSS pixels of the page around selector to capture too, 0 to 1000. Default: 0. */
                selector_padding?: number;
                /** @description Hides elements over or beside selector, such as fixed headers. Default: false. */
                selector_isolate?: boolean;
                /** @description Scrolls to selector before the capture, so that lazy content loads. Default: true. */
                selector_scroll_into_view?: boolean;
                /** @description Fails the capture with SELECTOR_NOT_FOUND if selector matches no visible element; if false, captures the viewport with a warning. Default: false. */
                error_on_selector_not_found?: boolean;
                /** @description Left edge of a region of the page to capture, in CSS pixels, 0 to 50000. Default: none. */
                clip_x?: number;
                /** @description Top edge of a region of the page to capture, in CSS pixels, 0 to 50000. Default: none. */
                clip_y?: number;
                /** @description Width of a region of the page to capture, in CSS pixels, 1 to 20000. Default: none. */
                clip_width?: number;
                /** @description Height of a region of the page to capture, in CSS pixels, 1 to 50000. Default: none. */
                clip_height?: number;
                /** @description Captures content outside the viewport without resizing the viewport. If false, a region ends at the edge of the viewport, and a full page enlarges the viewport to at most 16384 pixels. Default: true. */
                capture_beyond_viewport?: boolean;
                /**
                 * @description Format of the file: png, jpeg, webp, avif or pdf. Default: png.
                 * @enum {string}
                 */
                format?: "png" | "jpeg" | "webp" | "avif" | "pdf";
                /** @description Quality of a jpeg, webp or avif, 0 to 100. A higher value looks better and makes a larger file. No effect on other formats. Default: 90. */
                image_quality?: number;
                /** @description Makes the page background transparent; png only. Default: false. */
                omit_background?: boolean;
                /** @description Width to resize the picture to in pixels, 1 to 10000. Default: none. */
                image_width?: number;
                /** @description Height to resize the picture to in pixels, 1 to 50000. Default: none. */
                image_height?: number;
                /**
                 * @description How to fit the picture into both image_width and image_height: cover cuts, contain pads, fill distorts, inside stays within both, outside covers both. Default: inside.
                 * @enum {string}
                 */
                image_fit?: "cover" | "contain" | "fill" | "inside" | "outside";
                /**
                 * @description Part of the picture to keep if image_fit cuts: top, bottom, left, right, center, or the most detailed part by entropy or attention. Default: top.
                 * @enum {string}
                 */
                image_position?: "top" | "center" | "bottom" | "left" | "right" | "entropy" | "attention";
                /** @description Allows image_width and image_height to enlarge the picture, up to the limits of its format. Default: false. */
                image_upscale?: boolean;
                /** @description Color that fills padding and, in a jpeg, transparent areas: a hex value, rgb(), rgba() or one of the 17 names of CSS 2. Default: #ffffff. */
                image_background?: string;
                /** @description Background color for pages that set none: a hex value, rgb(), rgba() or one of the 17 names of CSS 2. Default: none. */
                background_color?: string;
                /** @description Removes borders of one color. Default: false. */
                image_trim?: boolean;
                /** @description Maximum color difference within a border for image_trim, 0 to 255. Default: 10. */
                image_trim_threshold?: number;
                /** @description Pixels of image_background around the picture, 0 to 500. Default: 0. */
                image_padding?: number;
                /** @description Encodes a webp or avif without loss. A png is always lossless. Default: false. */
                image_lossless?: boolean;
                /** @description Encodes a progressive jpeg or an interlaced png. Default: false. */
                image_progressive?: boolean;
                /** @description Number of colors in the palette of a png, 2 to 256; 0 disables the palette. A palette makes the file much smaller. Default: 0. */
                image_palette_colors?: number;
                /** @description Maximum size of the file in bytes, 10240 to 52428800. Quality, then dimensions, are reduced until the file fits. Default: none. */
                image_max_bytes?: number;
                /** @description Converts the picture to grayscale. Default: false. */
                image_grayscale?: boolean;
                /** @description Encodes a png faster; if false, encoding takes longer and the file is smaller. Default: true. */
                optimize_for_speed?: boolean;
                /** @description Width of a thumbnail in pixels, 16 to 2000. Default: none. */
                thumbnail_width?: number;
                /** @description Height of a thumbnail in pixels, 16 to 2000. Together with thumbnail_width, the thumbnail shows the top part of the picture. Default: none. */
                thumbnail_height?: number;
                /**
                 * @description Format of the thumbnail: jpeg, png or webp. Default: the format of the picture, or webp for avif.
                 * @enum {string}
                 */
                thumbnail_format?: "jpeg" | "png" | "webp";
                /**
                 * @description Stores a small copy beside the picture: fit is one picture, of a taller page the first slice; slices has up to preview_max_slices, one behind the other in one file. Default: none.
                 * @enum {string}
                 */
                preview?: "fit" | "slices";
                /**
                 * @description Format of each slice: webp or jpeg. Default: webp.
                 * @enum {string}
                 */
                preview_format?: "webp" | "jpeg";
                /** @description Maximum width and height of each slice in pixels, 896 to 2000. Default: 1568. */
                preview_max_side?: number;
                /** @description Maximum bytes of each slice, 65536 to 1048576. Quality is reduced until the slice fits, then its height. Default: 262144. */
                preview_max_bytes?: number;
                /** @description Maximum number of slices, for preview slices, 1 to 12. Default: 12. */
                preview_max_slices?: number;
                /**
                 * @description Paper format of a pdf: a0 to a6, letter, legal, tabloid or ledger. Default: a4.
                 * @enum {string}
                 */
                pdf_paper_format?: "a0" | "a1" | "a2" | "a3" | "a4" | "a5" | "a6" | "letter" | "legal" | "tabloid" | "ledger";
                /** @description Width of the sheet with a unit, such as 210mm, 8.5in or 800px. Overrides pdf_paper_format. Default: none. */
                pdf_width?: string;
                /** @description Height of the sheet with a unit, such as 297mm or 11in. Overrides pdf_paper_format. Default: none. */
                pdf_height?: string;
                /** @description Prints in landscape orientation. Default: false. */
                pdf_landscape?: boolean;
                /** @description Prints backgrounds. Default: true. */
                pdf_print_background?: boolean;
                /** @description Scale of the content, 0.1 to 2. Default: 1. */
                pdf_scale?: number;
                /** @description Margin at the top, such as 10mm. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_top?: string;
                /** @description Margin on the right. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_right?: string;
                /** @description Margin at the bottom. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_bottom?: string;
                /** @description Margin on the left. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_left?: string;
                /** @description Pages to include, such as 1-3,5. The capture fails if no page matches. Default: all. */
                pdf_page_ranges?: string;
                /** @description Prints all content on one sheet that is as tall as the content. The width is pdf_width or that of pdf_paper_format. Page breaks, and @page rules of the page, have no effect. Default: false. */
                pdf_fit_one_page?: boolean;
                /** @description Prefers the page’s own CSS @page size. Default: false. */
                pdf_prefer_css_page_size?: boolean;
                /** @description HTML to print at the top of each sheet within pdf_margin_top, at most 16384 characters. The browser fills in spans with class date, title, url, pageNumber or totalPages. Images can use data: URLs only. Default: none. */
                pdf_header_template?: string;
                /** @description HTML to print at the bottom of each sheet, with the rules of pdf_header_template, at most 16384 characters. Default: none. */
                pdf_footer_template?: string;
                /** @description Tags the content for screen readers. Default: false. */
                pdf_tagged?: boolean;
                /** @description Creates bookmarks from the headings, and tags the content too. Default: false. */
                pdf_outline?: boolean;
                /** @description Stores the page’s final HTML, with the values of visible fields and without passwords, beside the capture. Default: false. */
                save_html?: boolean;
                /** @description Stores the page’s visible text, with that of fields, buttons and style sheets and without passwords, beside the capture. Default: false. */
                save_text?: boolean;
                /** @description Stores the page’s article as Markdown, or the whole page if it has no article, beside the capture. Default: false. */
                save_markdown?: boolean;
                /** @description Stores the page’s links as JSON, with their URLs, texts and whether they stay within the site, beside the capture. Default: false. */
                save_links?: boolean;
                /** @description Stores the page with its images and styles as one MHTML file, which can contain what mask_selectors hides, beside the capture. Default: false. */
                save_mhtml?: boolean;
                /** @description Stores the page’s requests as a HAR file, without cookies, credentials or bodies, which can contain what mask_selectors hides, beside the capture. Default: false. */
                save_har?: boolean;
                /** @description Stores console messages and uncaught errors, which can contain what mask_selectors hides, as JSON beside the capture. Default: false. */
                save_console?: boolean;
                /** @description Stores the accessibility tree as JSON beside the capture. Default: false. */
                save_accessibility_tree?: boolean;
                /** @description Records the page’s title. Always on. Default: true. */
                metadata_page_title?: boolean;
                /** @description Records the redirects that led to final_url in the record’s metadata. Default: false. */
                metadata_final_url?: boolean;
                /** @description Records the HTTP status of the page. Always on. Default: true. */
                metadata_http_response_status_code?: boolean;
                /** @description Records the response headers of the page, except cookies, in the record’s metadata. Default: false. */
                metadata_http_response_headers?: boolean;
                /** @description Records width and height of the picture in the record’s metadata. Default: false. */
                metadata_image_size?: boolean;
                /** @description Records Open Graph and Twitter tags and the description in the record’s metadata. Default: false. */
                metadata_open_graph?: boolean;
                /** @description Records the URL of the page’s best icon in the record’s metadata. Default: false. */
                metadata_icon?: boolean;
                /** @description Records the font families that the page uses in the record’s metadata. Default: false. */
                metadata_fonts?: boolean;
                /** @description Records the duration of each step and of the page load, in milliseconds, in the record’s metadata. Default: false. */
                metadata_timings?: boolean;
                /** @description Records the file’s SHA-256 and a perceptual hash of the picture in the record’s metadata. Default: false. */
                metadata_content_hash?: boolean;
                /** @description Records the picture’s main colors in the record’s metadata. Default: false. */
                metadata_palette?: boolean;
                /** @description Records the first 100 URLs that the page links to in the record’s metadata. Default: false. */
                metadata_links?: boolean;
                /** @description Records the number of blocked requests in the record’s metadata. Default: false. */
                metadata_blocked_requests?: boolean;
                /** @description Id of an earlier completed screenshot of the account, with whose picture to compare this one. The record then has comparison. Default: none. */
                compare_to?: string;
                /** @description Share of changed pixels above which the picture counts as changed, 0 to 1. With 0, one pixel is a change. Default: none, so that each changed region of a few pixels is a change. */
                compare_threshold?: number;
                /** @description Color difference up to which two pixels count as equal, 0 to 1; 1 is black and white. Default: 0.1. */
                compare_color_tolerance?: number;
                /** @description Counts changed pixels at the smoothed edges of text and shapes too. If false, they are detected and ignored. Default: false. */
                compare_antialiasing?: boolean;
                /** @description HTTP statuses from 400 on with which the page is compared, such as 404 or 500-511, at most 20. Other error pages are not compared. Default: none. */
                compare_accept_status?: string[];
                /** @description CSS selectors, or regions with x, y, width and height (or left, top, width and height) in CSS pixels of the page, that are not compared, at most 20. The areas of the selectors in both pictures are ignored, if both captures have the selector. Default: none. */
                compare_ignore?: (string | ({
                    /** @description CSS selector of elements to ignore. */
                    selector?: string;
                    /** @description Left edge of a region in CSS pixels of the page, 0 to 50000. */
                    x?: number;
                    /** @description Top edge, 0 to 50000. */
                    y?: number;
                    /** @description The same as x. Use it in YAML. */
                    left?: number;
                    /** @description The same as y. Use it in YAML, where y without quotation marks is a boolean. */
                    top?: number;
                    /** @description Width, 1 to 50000. */
                    width?: number;
                    /** @description Height, 1 to 50000. */
                    height?: number;
                } & (unknown | ((unknown | unknown) & (unknown | unknown)))))[];
                /** @description Your own bucket, to which the picture is copied in addition to the bucket of this service. Default: none. */
                storage_bucket?: string;
                /** @description URL of the S3-compatible store that has storage_bucket: https, host and port. Default: none. */
                storage_endpoint?: string;
                /** @description Region of storage_bucket, at most 64 characters. Default: us-east-1. */
                storage_region?: string;
                /** @description Whether storage_bucket is in the path of requests. False: it is in the host name (virtual-host style), unless the endpoint is an IP address or the bucket has a dot. Default: true. */
                storage_path_style?: boolean;
                /** @description Key of the copy, at most 512 characters. {id}, {host}, {date} and {format} are replaced with the screenshot’s id, the page’s host, the UTC date and the format. Default: {id}.{format}. */
                storage_path?: string;
                /** @description Request headers by name, at most 64. The browser sends them to the page’s own origin, unless headers_scope allows more. That of html and markdown is html_base_url. Default: none. */
                headers?: {
                    [key: string]: string;
                };
                /** @description Cookies to set before the page is opened, at most 100. Default: none. */
                cookies?: ({
                    /** @description Name, at most 256 characters. */
                    name: string & (unknown & unknown);
                    /** @description Value, at most 4096 characters, without spaces at its ends. */
                    value: string & (unknown & unknown);
                    /** @description Host that receives the cookie; with a leading dot, its subdomains too. Default: the host of the page. */
                    domain?: string;
                    /** @description Path prefix that receives the cookie. Default: /. */
                    path?: string & (unknown & unknown);
                    /** @description Expiry as Unix time in seconds. Default: the end of the capture. */
                    expires?: number;
                    /** @description Hides the cookie from scripts. Default: false. */
                    http_only?: boolean;
                    /** @description Sends the cookie over https only. Default: false. */
                    secure?: boolean;
                    /**
                     * @description Attribute SameSite: Strict, Lax or None. Default: the browser’s default.
                     * @enum {string}
                     */
                    same_site?: "Strict" | "Lax" | "None";
                } | string)[];
                /** @description Value of the header Authorization, at most 8192 characters. The browser sends it to the page’s own origin, unless headers_scope allows more. Default: none. */
                authorization?: string;
                /** @description User name for HTTP authentication at the page’s own origin, at most 1024 characters, without a colon. Default: none. */
                basic_auth_username?: string;
                /** @description Password for basic_auth_username, at most 1024 characters. Default: none. */
                basic_auth_password?: string;
                /** @description Entries of localStorage by name, at most 64 KiB in total. They are set for the page’s own origin before its first script. Default: none. */
                local_storage?: {
                    [key: string]: string;
                };
                /** @description Access key id for storage_bucket, at most 256 characters. Default: none. */
                storage_access_key_id?: string;
                /** @description Secret access key for storage_bucket, at most 256 characters. Default: none. */
                storage_secret_access_key?: string;
                /** @description User name for proxy, at most 256 characters. Default: none. */
                proxy_username?: string;
                /** @description Password for proxy, at most 256 characters. Default: none. */
                proxy_password?: string;
                /** @description Reuses the picture of an earlier equal request with cache, if there is one. The record is then completed immediately and is not charged. Default: false. */
                cache?: boolean;
                /** @description Maximum age of the reused picture in seconds, 60 to 2592000. The retention of files applies too. Default: 86400. */
                cache_ttl?: number;
                /** @description Separate cache for otherwise equal requests, 1 to 250 letters, digits, - and _. Default: none. */
                cache_key?: string;
                /** @description Captures the page again and replaces the cached picture. Default: false. */
                cache_refresh?: boolean;
                /**
                 * Format: uri
                 * @description URL of the page, if the top level has none.
                 */
                url?: string;
                /** @description True: the request does not wait. False: it waits until the capture ends, up to 25 seconds. Default: false if the response is the file, otherwise true. */
                async?: boolean;
                /**
                 * @description Body of the response after a wait: json is the record, by_format the file, empty none (204). Default: by_format if the header Accept prefers an image type, otherwise json.
                 * @enum {string}
                 */
                response_type?: "json" | "by_format" | "empty";
                /** @description Your own identifier, 1 to 64 letters, digits, - and _. The record returns it. Default: none. */
                external_identifier?: string;
                /** @description File name for downloads, at most 128 characters. Without it, browsers show images and save PDFs. Default: none. */
                attachment_name?: string;
                /** @description Lifetime of the record’s download links in seconds, 60 to 604800. Default: 86400. */
                download_url_ttl?: number;
                /** @description Days to keep the files, 1 to 365, and at most the retention of the account’s plan. Default: the plan’s. */
                retention_days?: number;
                /**
                 * Format: uri
                 * @description URL to which the events of this request are posted, in addition to registered endpoints: https, public, without user name, password and fragment.
                 */
                webhook_url?: string;
                /** @description Events that are posted to webhook_url. Default: screenshot.completed and screenshot.failed. */
                webhook_events?: ("screenshot.queued" | "screenshot.completed" | "screenshot.changed" | "screenshot.unfit" | "screenshot.fit" | "screenshot.failed")[];
            };
            /** @description True: the request does not wait. False: it waits until the capture ends, up to 25 seconds. Default: false if the response is the file, otherwise true. */
            async?: boolean;
            /**
             * @description Body of the response after a wait: json is the record, by_format the file, empty none (204). Default: by_format if the header Accept prefers an image type, otherwise json.
             * @enum {string}
             */
            response_type?: "json" | "by_format" | "empty";
            /** @description Your own identifier, 1 to 64 letters, digits, - and _. The record returns it. Default: none. */
            external_identifier?: string;
            /** @description File name for downloads, at most 128 characters. Without it, browsers show images and save PDFs. Default: none. */
            attachment_name?: string;
            /** @description Lifetime of the record’s download links in seconds, 60 to 604800. Default: 86400. */
            download_url_ttl?: number;
            /** @description Days to keep the files, 1 to 365, and at most the retention of the account’s plan. Default: the plan’s. */
            retention_days?: number;
            /**
             * Format: uri
             * @description URL to which the events of this request are posted, in addition to registered endpoints: https, public, without user name, password and fragment.
             */
            webhook_url?: string;
            /** @description Events that are posted to webhook_url. Default: screenshot.completed and screenshot.failed. */
            webhook_events?: ("screenshot.queued" | "screenshot.completed" | "screenshot.changed" | "screenshot.unfit" | "screenshot.fit" | "screenshot.failed")[];
        };
        /** @description A page to record. `url` is required, here or in `options`. The one at the top level takes precedence. */
        CreateVideo: {
            /**
             * Format: uri
             * @description URL of the page: public, http or https, at most 8192 characters. User name and password in it are used for basic authentication and are never shown.
             */
            url?: string;
            /** @description Options of the video. All are optional. Options without a value are not stored. */
            options?: {
                /** @description Width of the viewport in CSS pixels, 1 to 7680. Default: 1920. */
                viewport_width?: number;
                /** @description Height of the viewport in CSS pixels, 1 to 7680. Default: 1080. */
                viewport_height?: number;
                /** @description Device pixels per CSS pixel, 0.1 to 5. Default: 1. */
                device_scale_factor?: number;
                /** @description Device to emulate: its viewport, pixel ratio, touch and user agent. Other options override these. Default: none. */
                device?: string;
                /** @description Sets the CSS media feature prefers-color-scheme to dark. Default: false. */
                dark_mode?: boolean;
                /** @description The page as HTML, instead of url, 1 to 2097152 characters. The browser still loads its resources from the network. Default: none. */
                html?: string;
                /** @description The page as Markdown, instead of url, 1 to 1048576 characters. It is rendered on a white background, with tables, task lists, and headings whose ids are those of GitHub. HTML in it is shown as text. Default: none. */
                markdown?: string;
                /** @description Base URL of html or markdown for relative links, http or https. Default: none. */
                html_base_url?: string;
                /** @description URL in the header Referer of the page’s request, http or https. Default: none. */
                referer?: string;
                /** @description Blocks every request of html or markdown, so that only inline content is shown. Default: false. */
                offline?: boolean;
                /** @description User agent that servers and scripts see, at most 1024 characters. Client hints match it, and service workers are blocked. Default: the device’s, else the browser’s own. */
                user_agent?: string;
                /** @description Platform that scripts and client hints report, such as Win32, MacIntel or Linux x86_64, at most 64 characters. Workers report the browser’s own. Default: the platform that matches user_agent. */
                user_agent_platform?: string;
                /** @description Header Accept-Language of every request, at most 256 characters; does not change locale. Default: derived from locale. */
                accept_language?: string;
                /**
                 * @description Which requests carry headers and authorization: same_origin for the page’s own origin, same_site for hosts of its site, all for every request, also to third parties. Default: same_origin.
                 * @enum {string}
                 */
                headers_scope?: "same_origin" | "same_site" | "all";
                /** @description URL of the proxy for the page’s traffic: http, https or socks5, with host and port. A user name and password in it become proxy_username and proxy_password. Default: none. */
                proxy?: string;
                /** @description Hosts to reach without the proxy, at most 50; *.example.com matches all subdomains. Default: none. */
                proxy_bypass?: string[];
                /** @description Accepts invalid TLS certificates. Default: false. */
                ignore_https_errors?: boolean;
                /**
                 * @description HTTP cache: batch shares scripts, style sheets, fonts and images among the captures of one batch; off requests them again for each capture. The cache stores only fresh responses to requests without cookies or credentials. No effect outside a batch. Default: batch.
                 * @enum {string}
                 */
                http_cache?: "off" | "batch";
                /** @description Latitude of the emulated geolocation in degrees, -90 to 90. Default: none, geolocation is denied. */
                geolocation_latitude?: number;
                /** @description Longitude of the emulated geolocation in degrees, -180 to 180. Default: none. */
                geolocation_longitude?: number;
                /** @description Accuracy of the emulated geolocation in meters, 0 to 100000. Default: 0. */
                geolocation_accuracy?: number;
                /** @description IANA time zone of the page, such as Europe/Vienna, in capital or small letters. Default: UTC. */
                timezone?: string;
                /** @description Language and region of the page as a BCP 47 tag, such as de-AT. Sets the formats of scripts, navigator.language and Accept-Language. What the browser draws by itself stays American English: form fields for dates, times, months, weeks, numbers and files, buttons without a label, and validation messages. The lang attribute of the page decides the forms of Han letters; without it they are those of simplified Chinese. Default: en-US. */
                locale?: string;
                /** @description Time at which the clock of each document starts when it loads, ISO 8601 with a zone, 1990 to 2100. A day alone begins at 00:00 UTC. It runs on, so that delayed work of the page happens. A pdf has this time as its date. Default: none, the clock is the real one. */
                fixed_time?: string;
                /** @description Lays the page out as a phone does: honors its viewport tag and overlays scroll bars. Default: the device’s, else false. */
                viewport_mobile?: boolean;
                /** @description Reports a touch screen to the page. Default: the device’s, else false. */
                viewport_has_touch?: boolean;
                /** @description Makes the longer side of the window its width. Default: false. */
                viewport_landscape?: boolean;
                /**
                 * @description CSS media type: screen or print. Default: screen, and print for a pdf.
                 * @enum {string}
                 */
                media_type?: "screen" | "print";
                /** @description Sets the CSS media feature prefers-reduced-motion to reduce. Default: false. */
                reduced_motion?: boolean;
                /** @description Replaces the page’s colors with a few high-contrast colors. Default: false. */
                forced_colors?: boolean;
                /**
                 * @description CSS media feature prefers-contrast: no_preference, more or less. Default: no_preference.
                 * @enum {string}
                 */
                prefers_contrast?: "no_preference" | "more" | "less";
                /** @description Other CSS media features by name, such as color-gamut: p3, at most 20. Default: none. */
                media_features?: {
                    [key: string]: string;
                };
                /** @description Darkens pages that have no dark color scheme. Default: false. */
                dark_mode_force?: boolean;
                /** @description Runs the page’s scripts. Scripts in these options run in either case. Default: true. */
                javascript_enabled?: boolean;
                /** @description Disables the page’s Content-Security-Policy, so that scripts can add blocked content. Default: false. */
                bypass_csp?: boolean;
                /** @description Zoom of the browser, 0.25 to 5: the window has fewer and larger CSS pixels, so media queries and vh follow. The picture has the same size in pixels. For a pdf, magnifies the page. Default: 1. */
                page_zoom?: number;
                /** @description CSS to add to the page, at most 262144 characters. Default: none. */
                styles?: string;
                /** @description JavaScript to run in the page after it has loaded, at most 262144 characters. If javascript_enabled is false, its timers never fire. Default: none. */
                scripts?: string;
                /** @description CSS selector of an element to click before the picture is taken. A new tab that it opens replaces the page. Default: none. */
                click?: string;
                /** @description JavaScript to run in every frame before the page’s own scripts, at most 262144 characters. Default: none. */
                init_script?: string;
                /** @description States to wait for again after scripts, if scripts change the page or navigate: load, domcontentloaded, networkidle. Default: none. */
                scripts_wait_until?: ("load" | "domcontentloaded" | "networkidle")[];
                /** @description URLs of scripts to run in the page after it has loaded, at most 10. Default: none. */
                script_urls?: string[];
                /** @description URLs of style sheets to add to the page, at most 10. Default: none. */
                style_urls?: string[];
                /** @description CSS selectors of elements to remove from the layout, at most 100. Default: none. */
                hide_selectors?: string[];
                /** @description Applies hide_selectors inside shadow roots and frames too. All other options search them always. Default: false. */
                include_shadow_dom?: boolean;
                /** @description CSS selectors of elements to cover with a box of one color, such as private or changing content, at most 50. Their content is in no file except HAR, MHTML and console messages. In a pdf, the elements are left blank instead. Default: none. */
                mask_selectors?: string[];
                /** @description CSS color of the boxes of mask_selectors. Default: #ff00ff. */
                mask_color?: string;
                /** @description Fails the capture if click matches no element; if false, the record has a warning. Default: true. */
                error_on_click_selector_not_found?: boolean;
                /** @description CSS selector of elements to click one after the other, at most 50. Default: none. */
                click_all?: string;
                /** @description CSS selector of an element to hover over while the picture is taken. Default: none. */
                hover?: string;
                /** @description Fails the capture if hover matches no element; if false, the record has a warning. Default: true. */
                error_on_hover_selector_not_found?: boolean;
                /** @description Key to press after the page has loaded, such as Escape, Enter, PageDown or Control+A. Default: none. */
                press_key?: string;
                /** @description CSS selector of an element to scroll to before the picture is taken. Default: none. */
                scroll_into_view?: string;
                /** @description CSS pixels to scroll additionally after scroll_into_view, -10000 to 10000. Default: 0. */
                scroll_into_view_adjust_top?: number;
                /** @description Horizontal scroll position in CSS pixels, 0 to 50000. Default: 0. */
                scroll_x?: number;
                /** @description Vertical scroll position in CSS pixels, 0 to 50000. Default: 0. */
                scroll_y?: number;
                /** @description Stops animations and transitions of CSS, and animations of SVG elements, before the picture is taken: finite ones show their last frame, infinite ones their first. Animated image files go on. Default: false. */
                disable_animations?: boolean;
                /** @description Stops audio, and stops videos at their first frame. Default: false. */
                pause_videos?: boolean;
                /** @description Blocks advertisements. Default: false. */
                block_ads?: boolean;
                /** @description Blocks analytics scripts and other trackers. Default: false. */
                block_trackers?: boolean;
                /** @description Responds to cookie consent banners, and hides the banners that it cannot respond to. Default: false. */
                block_cookie_banners?: boolean;
                /**
                 * @description What block_cookie_banners does: opt_out rejects cookies, opt_in accepts them, hide only hides the banner. Default: opt_out.
                 * @enum {string}
                 */
                cookie_banner_action?: "opt_out" | "opt_in" | "hide";
                /** @description Hides elements that look like banners or overlays, even if no filter list has them. Default: false. */
                block_banners_by_heuristics?: boolean;
                /** @description Blocks chat widgets and similar helpers. Default: false. */
                block_chats?: boolean;
                /** @description Blocks buttons and embedded posts of social networks. Default: false. */
                block_socials?: boolean;
                /** @description Blocks newsletter pop-ups, app banners, notification requests and similar annoyances. Default: false. */
                block_annoyances?: boolean;
                /** @description URL patterns of requests to block, at most 100; * matches any text, as in *://*.example.com/*. Default: none. */
                block_requests?: string[];
                /** @description Types of requests to block: document (frames), stylesheet, image, media, font, script, texttrack, xhr, fetch, eventsource, websocket, manifest, other. The browser does not distinguish xhr from fetch. Default: none. */
                block_resources?: ("document" | "stylesheet" | "image" | "media" | "font" | "script" | "texttrack" | "xhr" | "fetch" | "eventsource" | "websocket" | "manifest" | "other")[];
                /** @description URL patterns of requests that no other option blocks, at most 100; * matches any text. Default: none. */
                allow_requests?: string[];
                /** @description Blocks every request to a site other than the page’s own. Default: false. */
                block_third_party?: boolean;
                /** @description Blocks service workers. Always on when another option filters requests. Default: false. */
                block_service_workers?: boolean;
                /** @description Milliseconds to wait before the picture is taken, 0 to 60000. Default: 0. */
                delay?: number;
                /** @description Maximum time for the page to load in milliseconds, 1000 to 180000. Default: 30000. */
                timeout?: number;
                /** @description CSS selector of an element to wait for before the picture is taken. Default: none. */
                wait_for_selector?: string;
                /** @description States to wait for within timeout: load, domcontentloaded, networkidle, commit. All must be reached. Default: load. */
                wait_until?: ("load" | "domcontentloaded" | "networkidle" | "commit")[];
                /** @description Maximum time for a whole attempt in milliseconds, 5000 to 600000. Default: the sum of the other time limits. */
                job_timeout?: number;
                /** @description Maximum time for taking the picture or recording the video, and for comparing it, in milliseconds, 1000 to 600000. Default: 30000, with full_page 2 more for each pixel of full_page_max_height, at most 120000; for a video 200 more for each frame, and in proportion more above 1920 × 1080, at most 600000. */
                capture_timeout?: number;
                /**
                 * @description State that wait_for_selector waits for: visible, or attached for any element in the DOM. Default: visible.
                 * @enum {string}
                 */
                wait_for_selector_state?: "visible" | "attached";
                /** @description Maximum wait in milliseconds for each selector, expression, click and hover, 0 to 120000. Default: timeout. */
                wait_for_selector_timeout?: number;
                /** @description Number of elements that wait_for_selector must match, 1 to 1000. Default: 1. */
                wait_for_selector_count?: number;
                /** @description CSS selector that must match no visible element before the picture is taken. Default: none. */
                wait_for_selector_gone?: string;
                /** @description JavaScript expression that must become true before the picture is taken, at most 8192 characters. Default: none. */
                wait_for_function?: string;
                /** @description Maximum wait in milliseconds for fonts and images in the picture after all other waits, 0 to 30000; 0 disables it. Default: 3000. */
                wait_for_fonts_timeout?: number;
                /** @description Waits until the images in the picture are loaded, at most wait_for_selector_timeout: also backgrounds, posters, images in components, and images added meanwhile. Default: false. */
                wait_for_images?: boolean;
                /** @description Maximum wait in milliseconds for animations, timers and late requests to end, 0 to 10000; 0 disables it. The page’s time runs faster than real time; the wait ends when either reaches the maximum. While the page gains content or receives data, it takes up to 8 seconds, with compare_to 15. With full_page, content that appears on scroll is shown too. Endless animations show the same phase in each picture. Default: 2000. */
                stability_timeout?: number;
                /** @description Milliseconds without a request after which networkidle is reached, 100 to 10000. Default: 500. */
                network_idle_time?: number;
                /** @description Maximum number of open requests for networkidle, 0 to 10. Default: 0. */
                network_idle_max_connections?: number;
                /** @description Maximum wait for networkidle in milliseconds, 0 to 180000; after it, the picture is taken with a warning. Default: timeout. */
                network_idle_timeout?: number;
                /** @description Milliseconds without a DOM change before the picture is taken, 0 to 10000. Default: 0. */
                dom_idle_time?: number;
                /** @description Takes the picture with a warning if a wait times out, instead of failing the capture. Default: false. */
                best_attempt?: boolean;
                /** @description Maximum number of retries after a transient failure, 0 to 5. Default: 1. */
                retries?: number;
                /** @description Milliseconds to wait before each retry, 0 to 60000. Default: 1000. */
                retry_delay?: number;
                /**
                 * @description How to handle a picture that shows nearly one color: accept keeps it, retry retries once and then keeps it with a warning, fail retries once and then fails. Default: retry.
                 * @enum {string}
                 */
                blank_page_action?: "accept" | "retry" | "fail";
                /** @description HTTP statuses of the page that fail the capture, such as 404 or 500-511, at most 20. Default: none. */
                fail_on_status?: string[];
                /** @description Texts that fail the capture if the page shows one of them, at most 20. Default: none. */
                fail_if_content_contains?: string[];
                /** @description Texts that fail the capture if one of them is missing from the page, at most 20. Default: none. */
                fail_if_content_missing?: string[];
                /** @description CSS selectors that fail the capture if an element matches one of them, at most 20. Default: none. */
                fail_if_selector_present?: string[];
                /** @description URL patterns of requests whose failure fails the capture, at most 20; * matches any text. Default: none. */
                fail_if_request_failed?: string[];
                /** @description Fails the capture if scripts throws an error; if false, the record has a warning. A syntax error always fails the capture. Default: true. */
                fail_on_script_error?: boolean;
                /**
                 * @description Whether a redirect to another URL fails the capture: never, cross_site or always. Default: never.
                 * @enum {string}
                 */
                fail_on_redirect?: "never" | "cross_site" | "always";
                /** @description Fails the capture if a script of the page throws an uncaught error. Default: false. */
                fail_on_page_error?: boolean;
                /** @description Fails the capture if the site shows a bot challenge. Default: false. */
                fail_on_bot_challenge?: boolean;
                /**
                 * @description Format of the file: mp4, webm or gif. Default: mp4.
                 * @enum {string}
                 */
                format?: "mp4" | "webm" | "gif";
                /** @description Background color for pages that set none: a hex value, rgb(), rgba() or one of the 17 names of CSS 2. Default: none. */
                background_color?: string;
                /**
                 * @description Stores a small copy beside the picture: fit is one picture, of a taller page the first slice; slices has up to preview_max_slices, one behind the other in one file. Default: none.
                 * @enum {string}
                 */
                preview?: "fit" | "slices";
                /**
                 * @description Format of each slice: webp or jpeg. Default: webp.
                 * @enum {string}
                 */
                preview_format?: "webp" | "jpeg";
                /** @description Maximum width and height of each slice in pixels, 896 to 2000. Default: 1568. */
                preview_max_side?: number;
                /** @description Maximum bytes of each slice, 65536 to 1048576. Quality is reduced until the slice fits, then its height. Default: 262144. */
                preview_max_bytes?: number;
                /** @description Maximum number of slices, for preview slices, 1 to 12. Default: 12. */
                preview_max_slices?: number;
                /** @description Length of the video in seconds, 1 to 120; a gif has at most 15. Default: 5. */
                video_duration?: number;
                /** @description Frames in each second, 5 to 60. A video has at most 3600 frames. Default: 30. */
                video_fps?: number;
                /** @description Width of the video in pixels, 64 to 3840; the height follows. Default: the width of the viewport × device_scale_factor. */
                video_width?: number;
                /** @description Quality of the video, 0 to 100. A higher value makes a larger file. Default: 70. */
                video_quality?: number;
                /**
                 * @description What the video shows: record shows the page as it moves, scroll scrolls smoothly to its end. Default: record.
                 * @enum {string}
                 */
                video_scenario?: "record" | "scroll";
                /** @description Milliseconds of one scroll from the top to the end, 100 to 120000. Default: what video_duration leaves beside the pauses; with video_scroll_back, half of it. */
                video_scroll_duration?: number;
                /**
                 * @description Speed curve of the scroll: linear, ease_in, ease_out or ease_in_out. Default: ease_in_out.
                 * @enum {string}
                 */
                video_scroll_easing?: "linear" | "ease_in" | "ease_out" | "ease_in_out";
                /** @description Scrolls back to the top after the pause at the end. Default: false. */
                video_scroll_back?: boolean;
                /** @description Milliseconds to rest before the scroll and at its end, 0 to 10000. Default: 500. */
                video_scroll_pause?: number;
                /** @description Stores the first frame as a jpeg beside the video. Default: false. */
                video_poster?: boolean;
                /**
                 * @description Clock of the page: exact advances it frame by frame, so that a slow machine drops no frame; real records as it happens, for pages that play sound or talk to servers. Default: exact.
                 * @enum {string}
                 */
                video_timing?: "exact" | "real";
                /** @description Stores the page’s final HTML, with the values of visible fields and without passwords, beside the capture. Default: false. */
                save_html?: boolean;
                /** @description Stores the page’s visible text, with that of fields, buttons and style sheets and without passwords, beside the capture. Default: false. */
                save_text?: boolean;
                /** @description Stores the page’s article as Markdown, or the whole page if it has no article, beside the capture. Default: false. */
                save_markdown?: boolean;
                /** @description Stores the page’s links as JSON, with their URLs, texts and whether they stay within the site, beside the capture. Default: false. */
                save_links?: boolean;
                /** @description Stores the page with its images and styles as one MHTML file, which can contain what mask_selectors hides, beside the capture. Default: false. */
                save_mhtml?: boolean;
                /** @description Stores the page’s requests as a HAR file, without cookies, credentials or bodies, which can contain what mask_selectors hides, beside the capture. Default: false. */
                save_har?: boolean;
                /** @description Stores console messages and uncaught errors, which can contain what mask_selectors hides, as JSON beside the capture. Default: false. */
                save_console?: boolean;
                /** @description Stores the accessibility tree as JSON beside the capture. Default: false. */
                save_accessibility_tree?: boolean;
                /** @description Records the page’s title. Always on. Default: true. */
                metadata_page_title?: boolean;
                /** @description Records the redirects that led to final_url in the record’s metadata. Default: false. */
                metadata_final_url?: boolean;
                /** @description Records the HTTP status of the page. Always on. Default: true. */
                metadata_http_response_status_code?: boolean;
                /** @description Records the response headers of the page, except cookies, in the record’s metadata. Default: false. */
                metadata_http_response_headers?: boolean;
                /** @description Records width and height of the picture in the record’s metadata. Default: false. */
                metadata_image_size?: boolean;
                /** @description Records Open Graph and Twitter tags and the description in the record’s metadata. Default: false. */
                metadata_open_graph?: boolean;
                /** @description Records the URL of the page’s best icon in the record’s metadata. Default: false. */
                metadata_icon?: boolean;
                /** @description Records the font families that the page uses in the record’s metadata. Default: false. */
                metadata_fonts?: boolean;
                /** @description Records the duration of each step and of the page load, in milliseconds, in the record’s metadata. Default: false. */
                metadata_timings?: boolean;
                /** @description Records the file’s SHA-256 and a perceptual hash of the picture in the record’s metadata. Default: false. */
                metadata_content_hash?: boolean;
                /** @description Records the first 100 URLs that the page links to in the record’s metadata. Default: false. */
                metadata_links?: boolean;
                /** @description Records the number of blocked requests in the record’s metadata. Default: false. */
                metadata_blocked_requests?: boolean;
                /** @description Id of an earlier completed screenshot of the account, with whose picture to compare this one. The record then has comparison. Default: none. */
                compare_to?: string;
                /** @description Share of changed pixels above which the picture counts as changed, 0 to 1. With 0, one pixel is a change. Default: none, so that each changed region of a few pixels is a change. */
                compare_threshold?: number;
                /** @description Color difference up to which two pixels count as equal, 0 to 1; 1 is black and white. Default: 0.1. */
                compare_color_tolerance?: number;
                /** @description Counts changed pixels at the smoothed edges of text and shapes too. If false, they are detected and ignored. Default: false. */
                compare_antialiasing?: boolean;
                /** @description HTTP statuses from 400 on with which the page is compared, such as 404 or 500-511, at most 20. Other error pages are not compared. Default: none. */
                compare_accept_status?: string[];
                /** @description CSS selectors, or regions with x, y, width and height (or left, top, width and height) in CSS pixels of the page, that are not compared, at most 20. The areas of the selectors in both pictures are ignored, if both captures have the selector. Default: none. */
                compare_ignore?: (string | ({
                    /** @description CSS selector of elements to ignore. */
                    selector?: string;
                    /** @description Left edge of a region in CSS pixels of the page, 0 to 50000. */
                    x?: number;
                    /** @description Top edge, 0 to 50000. */
                    y?: number;
                    /** @description The same as x. Use it in YAML. */
                    left?: number;
                    /** @description The same as y. Use it in YAML, where y without quotation marks is a boolean. */
                    top?: number;
                    /** @description Width, 1 to 50000. */
                    width?: number;
                    /** @description Height, 1 to 50000. */
                    height?: number;
                } & (unknown | ((unknown | unknown) & (unknown | unknown)))))[];
                /** @description Your own bucket, to which the picture is copied in addition to the bucket of this service. Default: none. */
                storage_bucket?: string;
                /** @description URL of the S3-compatible store that has storage_bucket: https, host and port. Default: none. */
                storage_endpoint?: string;
                /** @description Region of storage_bucket, at most 64 characters. Default: us-east-1. */
                storage_region?: string;
                /** @description Whether storage_bucket is in the path of requests. False: it is in the host name (virtual-host style), unless the endpoint is an IP address or the bucket has a dot. Default: true. */
                storage_path_style?: boolean;
                /** @description Key of the copy, at most 512 characters. {id}, {host}, {date} and {format} are replaced with the screenshot’s id, the page’s host, the UTC date and the format. Default: {id}.{format}. */
                storage_path?: string;
                /** @description Request headers by name, at most 64. The browser sends them to the page’s own origin, unless headers_scope allows more. That of html and markdown is html_base_url. Default: none. */
                headers?: {
                    [key: string]: string;
                };
                /** @description Cookies to set before the page is opened, at most 100. Default: none. */
                cookies?: ({
                    /** @description Name, at most 256 characters. */
                    name: string & (unknown & unknown);
                    /** @description Value, at most 4096 characters, without spaces at its ends. */
                    value: string & (unknown & unknown);
                    /** @description Host that receives the cookie; with a leading dot, its subdomains too. Default: the host of the page. */
                    domain?: string;
                    /** @description Path prefix that receives the cookie. Default: /. */
                    path?: string & (unknown & unknown);
                    /** @description Expiry as Unix time in seconds. Default: the end of the capture. */
                    expires?: number;
                    /** @description Hides the cookie from scripts. Default: false. */
                    http_only?: boolean;
                    /** @description Sends the cookie over https only. Default: false. */
                    secure?: boolean;
                    /**
                     * @description Attribute SameSite: Strict, Lax or None. Default: the browser’s default.
                     * @enum {string}
                     */
                    same_site?: "Strict" | "Lax" | "None";
                } | string)[];
                /** @description Value of the header Authorization, at most 8192 characters. The browser sends it to the page’s own origin, unless headers_scope allows more. Default: none. */
                authorization?: string;
                /** @description User name for HTTP authentication at the page’s own origin, at most 1024 characters, without a colon. Default: none. */
                basic_auth_username?: string;
                /** @description Password for basic_auth_username, at most 1024 characters. Default: none. */
                basic_auth_password?: string;
                /** @description Entries of localStorage by name, at most 64 KiB in total. They are set for the page’s own origin before its first script. Default: none. */
                local_storage?: {
                    [key: string]: string;
                };
                /** @description Access key id for storage_bucket, at most 256 characters. Default: none. */
                storage_access_key_id?: string;
                /** @description Secret access key for storage_bucket, at most 256 characters. Default: none. */
                storage_secret_access_key?: string;
                /** @description User name for proxy, at most 256 characters. Default: none. */
                proxy_username?: string;
                /** @description Password for proxy, at most 256 characters. Default: none. */
                proxy_password?: string;
                /** @description Reuses the picture of an earlier equal request with cache, if there is one. The record is then completed immediately and is not charged. Default: false. */
                cache?: boolean;
                /** @description Maximum age of the reused picture in seconds, 60 to 2592000. The retention of files applies too. Default: 86400. */
                cache_ttl?: number;
                /** @description Separate cache for otherwise equal requests, 1 to 250 letters, digits, - and _. Default: none. */
                cache_key?: string;
                /** @description Captures the page again and replaces the cached picture. Default: false. */
                cache_refresh?: boolean;
                /**
                 * Format: uri
                 * @description URL of the page, if the top level has none.
                 */
                url?: string;
                /** @description True: the request does not wait. False: it waits until the capture ends, up to 25 seconds. Default: false if the response is the file, otherwise true. */
                async?: boolean;
                /**
                 * @description Body of the response after a wait: json is the record, by_format the file, empty none (204). Default: by_format if the header Accept prefers an image type, otherwise json.
                 * @enum {string}
                 */
                response_type?: "json" | "by_format" | "empty";
                /** @description Your own identifier, 1 to 64 letters, digits, - and _. The record returns it. Default: none. */
                external_identifier?: string;
                /** @description File name for downloads, at most 128 characters. Without it, browsers show images and save PDFs. Default: none. */
                attachment_name?: string;
                /** @description Lifetime of the record’s download links in seconds, 60 to 604800. Default: 86400. */
                download_url_ttl?: number;
                /** @description Days to keep the files, 1 to 365, and at most the retention of the account’s plan. Default: the plan’s. */
                retention_days?: number;
                /**
                 * Format: uri
                 * @description URL to which the events of this request are posted, in addition to registered endpoints: https, public, without user name, password and fragment.
                 */
                webhook_url?: string;
                /** @description Events that are posted to webhook_url. Default: video.completed and video.failed. */
                webhook_events?: ("video.completed" | "video.failed")[];
            };
            /** @description True: the request does not wait. False: it waits until the capture ends, up to 25 seconds. Default: false if the response is the file, otherwise true. */
            async?: boolean;
            /**
             * @description Body of the response after a wait: json is the record, by_format the file, empty none (204). Default: by_format if the header Accept prefers an image type, otherwise json.
             * @enum {string}
             */
            response_type?: "json" | "by_format" | "empty";
            /** @description Your own identifier, 1 to 64 letters, digits, - and _. The record returns it. Default: none. */
            external_identifier?: string;
            /** @description File name for downloads, at most 128 characters. Without it, browsers show images and save PDFs. Default: none. */
            attachment_name?: string;
            /** @description Lifetime of the record’s download links in seconds, 60 to 604800. Default: 86400. */
            download_url_ttl?: number;
            /** @description Days to keep the files, 1 to 365, and at most the retention of the account’s plan. Default: the plan’s. */
            retention_days?: number;
            /**
             * Format: uri
             * @description URL to which the events of this request are posted, in addition to registered endpoints: https, public, without user name, password and fragment.
             */
            webhook_url?: string;
            /** @description Events that are posted to webhook_url. Default: video.completed and video.failed. */
            webhook_events?: ("video.completed" | "video.failed")[];
        };
        /** @description A new webhook endpoint. */
        CreateWebhook: {
            /** @description Display name, at most 100 characters. */
            name: string;
            /**
             * Format: uri
             * @description URL to post to: https, public, without user name, password and fragment.
             */
            url: string;
            /** @description Event types to send, at least one. */
            events: ("screenshot.queued" | "screenshot.completed" | "screenshot.changed" | "screenshot.unfit" | "screenshot.fit" | "screenshot.failed" | "video.completed" | "video.failed")[];
            description?: string | null;
            /** @description False stops deliveries. Default: true. */
            is_active?: boolean;
            /** @description Your own signing secret instead of a generated one: whsec_ and base64 of 24 to 64 bytes. */
            signing_secret?: string;
        };
        /** @description A batch that was accepted, completely or in part. */
        CreatedBatch: {
            /** @description One item per URL, in the order of the request. */
            screenshots: {
                /** @description Id of the screenshot. */
                id: string;
                /** @description URL of the page. */
                url_to_capture: string;
                /** @enum {string} */
                status: "pending" | "completed" | "failed";
                /**
                 * Format: date-time
                 * @description Time at which the request was accepted.
                 */
                created_at: string;
            }[];
            /** @description Number of URLs in the request. */
            total: number;
            /** @description Number of accepted screenshots. */
            successful: number;
            /** @description Number of rejected screenshots. */
            failed: number;
            /** @description Present when some screenshots were rejected. */
            failed_jobs?: {
                /** @description Id of the screenshot. */
                id: string;
                /** @description URL of the page. */
                url: string;
                /** @description Error code and message. */
                error: string;
            }[];
            /** @description Present when some screenshots were rejected. */
            warning?: string;
            /** @description Estimated minimum and maximum duration, from the queue at creation time and the duration of recent captures. */
            estimated_time: string;
            /** @description Id of the batch. */
            batch_id: string;
        };
        /** @description An accepted run: a screenshot or a video. */
        CreatedRun: {
            /** @description Id of the screenshot. */
            id: string;
            /** @description URL of the page. */
            url: string;
            /** @constant */
            status: "pending";
            /** @description The options of the request. Always includes format, viewport_width, viewport_height and full_page. Secrets are masked. */
            options: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description Time at which the request was accepted.
             */
            created_at: string;
            /** @description Estimated minimum and maximum duration, from the queue at creation time and the duration of recent captures. */
            estimated_time: string;
        };
        /** @description An accepted screenshot. */
        CreatedScreenshot: {
            /** @description Id of the screenshot. */
            id: string;
            /** @description URL of the page. */
            url: string;
            /** @constant */
            status: "pending";
            /** @description The options of the request. Always includes format, viewport_width, viewport_height and full_page. Secrets are masked. */
            options: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description Time at which the request was accepted.
             */
            created_at: string;
            /** @description Estimated minimum and maximum duration, from the queue at creation time and the duration of recent captures. */
            estimated_time: string;
        };
        /** @description An accepted video. */
        CreatedVideo: {
            /** @description Id of the screenshot. */
            id: string;
            /** @description URL of the page. */
            url: string;
            /** @constant */
            status: "pending";
            /** @description The options of the request. Always includes format, viewport_width, viewport_height and full_page. Secrets are masked. */
            options: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description Time at which the request was accepted.
             */
            created_at: string;
            /** @description Estimated minimum and maximum duration, from the queue at creation time and the duration of recent captures. */
            estimated_time: string;
        };
        /** @description Usage of the account by day. */
        DailyUsage: {
            success: boolean;
            /** @description Every day from the first one with usage to today, at most 62. */
            data: {
                /**
                 * Format: date
                 * @description UTC day.
                 */
                date: string;
                /** @description Screenshots used on the day. */
                count: number;
            }[];
        };
        Delivery: {
            /** @description Delivery id, prefix dlv_, as in the header X-Webhook-Delivery. */
            id: string;
            event_id: string;
            event_type: string;
            screenshot_id: string;
            /**
             * @description `pending` while another attempt will follow.
             * @enum {string}
             */
            status: "pending" | "successful" | "failed";
            attempt_count: number;
            /** Format: date-time */
            first_attempt_at: string;
            /** Format: date-time */
            last_attempt_at: string;
            /** @description HTTP status of the last response. 0 without a response. */
            last_status_code: number;
            /** @description Attempts of the last seven days, oldest first. */
            attempts: components["schemas"]["DeliveryAttempt"][];
        };
        DeliveryAttempt: {
            /** @description Number of the attempt from 1, as in the header X-Webhook-Attempt. */
            number: number;
            /** @description True for a requested redelivery. */
            manual: boolean;
            /**
             * Format: date-time
             * @description Start of the attempt.
             */
            at: string;
            /** @description Milliseconds until the status line of the response, or until the attempt failed. */
            duration_ms: number;
            /** @description HTTP status of the response. 0 without a response. */
            status_code: number;
            /** @description Kind of failure: answered (the status is not 2xx), timeout, blocked, unresolved, tls, proxy, oversized (the response exceeds a limit), connection. */
            error: string | null;
            error_message: string | null;
            /** @description The first KiB of the response. Null without a response. */
            response_body: string | null;
        };
        /** @description One delivery. */
        DeliveryFound: {
            success: boolean;
            data: components["schemas"]["Delivery"];
        };
        /** @description One page of deliveries, newest attempt first. */
        DeliveryList: {
            success: boolean;
            data: components["schemas"]["Delivery"][];
            pagination: {
                limit: number;
                has_more: boolean;
                next_cursor: string | null;
            };
        };
        /** @description Every device. */
        DeviceList: {
            success: boolean;
            data: {
                /** @description Value for options.device. Case and separators are ignored. */
                id: string;
                /** @description Display name. */
                name: string;
                /** @description CSS pixels. */
                viewport_width: number;
                /** @description CSS pixels. */
                viewport_height: number;
                /** @description Device pixels per CSS pixel. */
                device_scale_factor: number;
                /** @description Applies the viewport meta tag of pages. */
                is_mobile: boolean;
                /** @description Supports touch events. */
                has_touch: boolean;
                /** @description User agent that the page receives. The version in a Chrome user agent is the browser’s own. */
                user_agent: string;
            }[];
        };
        /** @description An error response. */
        Error: {
            success: boolean;
            error: {
                /** @description For people. */
                message: string;
                /**
                 * @description For programs.
                 * @enum {string}
                 */
                code: "VALIDATION_ERROR" | "URL_NOT_ALLOWED" | "UNAUTHORIZED" | "INVALID_API_KEY" | "INSUFFICIENT_SCOPE" | "POLICY_TOO_NARROW" | "ACCOUNT_SUSPENDED" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "NOT_ACCEPTABLE" | "REQUEST_TIMEOUT" | "CONFLICT" | "IDEMPOTENCY_IN_PROGRESS" | "LAST_API_KEY" | "ROTATION_IN_PROGRESS" | "LIMIT_REACHED" | "NOT_READY" | "EXPIRED" | "PRECONDITION_FAILED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RANGE_NOT_SATISFIABLE" | "CAPTURE_FAILED" | "NOT_COMPARABLE" | "IDEMPOTENCY_KEY_REUSED" | "OPTION_NOT_ALLOWED" | "ORIGIN_NOT_ALLOWED" | "LINK_INVALID" | "HEADERS_TOO_LARGE" | "RATE_LIMIT_EXCEEDED" | "USAGE_LIMIT_REACHED" | "QUEUE_FULL" | "TOO_MANY_DOWNLOADS" | "INTERNAL_ERROR" | "CAPTURE_TIMEOUT" | "SERVICE_UNAVAILABLE";
                /** @description All problems of the request, or facts about the error. */
                details?: components["schemas"]["Problem"][] | {
                    [key: string]: unknown;
                };
                /** @description Same as the header X-Request-Id. */
                request_id?: string;
            };
        };
        /** @description Body of a post to an endpoint. */
        Event: {
            /** @description Id of the event. It is the same for every attempt and every endpoint. */
            id: string;
            /** @enum {string} */
            type: "screenshot.queued" | "screenshot.completed" | "screenshot.changed" | "screenshot.unfit" | "screenshot.fit" | "screenshot.failed";
            /**
             * Format: date-time
             * @description Time of the event.
             */
            created_at: string;
            data: {
                /** @description Present only in test events. */
                test?: boolean;
                screenshot: components["schemas"]["Screenshot"];
            };
        };
        /** @description Whether the capture policy of a key allows a URL. */
        KeyUrlChecked: {
            success: boolean;
            data: {
                url: string;
                /** @description Whether the capture policy allows the host. */
                allowed: boolean;
                /** @description Why it does not. Null: it does. */
                reason: string | null;
            };
        };
        /** @description Limits of the signed links of a key. */
        LinkPolicy: {
            /** @description Hosts of pages that links may capture; *.example.com stands for all subdomains. Null: all. An empty list: none. */
            allowed_hosts: string[] | null;
            /** @description Names of options that links may have. Null: all that links support. An empty list: none. */
            allowed_options: string[] | null;
            /** @description Whether links may have markup of their own: html, markdown, styles, style_urls, pdf_header_template and pdf_footer_template. Null: only if allowed_hosts is null. */
            allow_own_markup: boolean | null;
        };
        /** @description Limits of the signed links of the key. */
        LinkPolicyRequest: {
            /** @description Hosts of pages that links may capture; *.example.com stands for all subdomains. Null: all. An empty list: none. */
            allowed_hosts?: string[] | null;
            /** @description Names of options that links may have. Null: all that links support. An empty list: none. */
            allowed_options?: string[] | null;
            /** @description Whether links may have markup of their own: html, markdown, styles, style_urls, pdf_header_template and pdf_footer_template. Null: only if allowed_hosts is null. */
            allow_own_markup?: boolean | null;
        };
        /** @description The secret that signs links of a key. */
        LinkSecret: {
            message: string;
            data: {
                /** @description Key id: the parameter `key` of links. */
                key: string;
                /** @description Secret that signs links of the key, prefix lsk_. */
                link_secret: string;
            };
        };
        /** @description The redelivery of the missed events is queued. */
        MissedRedelivery: {
            success: boolean;
            message: string;
            data: {
                /** @description Number of missed deliveries, at most 10,000. All of them are repeated. */
                missed_deliveries: number;
            };
        };
        /** @description This document. */
        OpenApiDocument: {
            [key: string]: unknown;
        };
        /** @description One problem of a request. */
        Problem: {
            /** @description Path of the field, such as `options.image_quality` or `urls[3]`. Empty for the whole body. */
            path: string;
            /**
             * @description Machine-readable code of the problem.
             * @enum {string}
             */
            code: "required" | "unknown_field" | "invalid_type" | "invalid_value" | "invalid_format" | "too_small" | "too_big" | "duplicate" | "empty" | "contradiction" | "not_allowed" | "in_the_past" | "fixed" | "archived" | "reserved_name" | "invalid_json" | "invalid_secret" | "invalid_url" | "unsupported_scheme" | "https_required" | "host_required" | "credentials_in_url" | "fragment" | "url_not_allowed" | "refused";
            /** @description Description of the problem. Never contains the value. */
            message: string;
        };
        /** @description The redelivery of an event is queued. */
        RedeliveryAccepted: {
            success: boolean;
            message: string;
            data: {
                delivery_id: string;
                event_id: string;
            };
        };
        /** @description How long the replaced key or secret stays valid. */
        RotateSecret: {
            /** @description Hours for which the previous key or secret stays valid, 0 to 168. Default: 24. */
            overlap_hours?: number;
            /** @description True ends a running overlap of an earlier rotation. */
            force?: boolean;
        };
        /** @description The approved run. */
        RunApproved: {
            message: string;
            data: {
                /** @description Id of the screenshot or video. */
                run_id: string;
            };
        };
        /** @description Nothing: a run takes everything from its schedule. */
        RunSchedule: Record<string, never>;
        Schedule: {
            /** @description Id of the schedule. */
            id: string;
            name: string;
            /** @description Cron expression, macro, or @every and a duration. */
            schedule: string;
            time_zone: string;
            /** @description True: no runs are created. */
            suspend: boolean;
            /**
             * @description forbid: a run waits until the previous one has ended. allow: runs may overlap. Default: forbid.
             * @enum {string}
             */
            concurrency_policy: "forbid" | "allow";
            /** @description Seconds within which a missed run may still start. Null: no limit. */
            starting_deadline_seconds: number | null;
            spread_seconds: number;
            /** @description How runs are compared. Null: not at all. */
            comparison: components["schemas"]["ScheduleComparison"] | null;
            url: string;
            /** @description Options of each run, without defaults. Secrets are shown as ***, and very large options as …. */
            options: {
                [key: string]: unknown;
            };
            external_identifier: string | null;
            attachment_name: string | null;
            download_url_ttl: number | null;
            retention_days: number | null;
            webhook_url: string | null;
            webhook_events: ("screenshot.queued" | "screenshot.completed" | "screenshot.changed" | "screenshot.unfit" | "screenshot.fit" | "screenshot.failed" | "video.completed" | "video.failed")[] | null;
            /** @description Capture policy of the API key that created or last changed the schedule. Null: no limits. */
            capture_policy: components["schemas"]["SchedulePolicy"] | null;
            /**
             * @description `blocked`: no runs can be created; `problem` says why.
             * @enum {string}
             */
            status: "active" | "suspended" | "blocked";
            problem: {
                /** @description For programs, such as QUOTA_EXCEEDED. */
                code: string;
                /** @description For people. */
                message: string;
            } | null;
            next_run_at: string | null;
            last_run_at: string | null;
            last_success_at: string | null;
            /** @description The last run whose picture differed. Null if none has, or if runs are not compared. */
            last_change: {
                /** @description Id of the screenshot or video. */
                id: string;
                /**
                 * Format: date-time
                 * @description Time at which the run was due.
                 */
                scheduled_at: string;
                /** @description Changed pixels as a share of all pixels, 0 to 1. */
                changed_ratio: number | null;
            } | null;
            /** @description Runs that have not ended. */
            active_runs: components["schemas"]["ScheduleRun"][];
            /** @description The last twenty ended runs, the newest first. */
            recent_runs: components["schemas"]["ScheduleRun"][];
            /**
             * Format: date-time
             * @description Time of the creation.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last change in the REST API.
             */
            updated_at: string;
        };
        /** @description An approval of a run. */
        ScheduleApproval: {
            /** @description Id of the approved run. */
            run_id: string;
            /**
             * Format: date-time
             * @description Time of the approval.
             */
            approved_at: string;
            /** @description Who approved it: the id of an API key, or the text of the annotation tintype.dev/approved-by. Null: not known. */
            approved_by: string | null;
            replaced_run: string | null;
            /** @description Whether this is the last approval, and the picture that it replaced still exists. */
            can_undo: boolean;
            undone_at: string | null;
            /** @description Who undid it: the id of an API key, or the text of the annotation tintype.dev/approved-by. Null: not known. */
            undone_by: string | null;
        };
        /** @description The updated schedule. */
        ScheduleChanged: {
            message: string;
            data: components["schemas"]["Schedule"];
        };
        /** @description How runs are compared, and the last result. */
        ScheduleComparison: {
            /**
             * @description Picture that a run is compared with. previous: that of the run before. approved: the one that was approved last. Default: previous.
             * @enum {string}
             */
            baseline: "previous" | "approved";
            threshold: number | null;
            /** @description Color difference up to which two pixels count as equal, 0 to 1; 1 is black and white. Default: 0.1. */
            color_tolerance: number;
            /** @description Counts changed pixels at the smoothed edges of text and shapes too. If false, they are detected and ignored. Default: false. */
            antialiasing: boolean;
            /** @description Selectors and regions that are not compared. */
            ignore: {
                [key: string]: unknown;
            }[];
            /** @description HTTP statuses from 400 on with which the page is compared, such as 404 or 500-511, at most 20. Other error pages are not compared. Default: none. */
            accept_status: string[];
            /** @description With the baseline Approved: approves the first run that shows the page. If false, it waits for a person. Default: false. */
            approve_first: boolean;
            baseline_run: string | null;
            waiting_run: string | null;
            /** @description Whether the last run shows the page. Null: no run has ended. */
            fit: boolean | null;
            /** @description The last ten approvals, the newest first. */
            approvals: components["schemas"]["ScheduleApproval"][];
            /** @description The last comparison. Null before the first one, and after its run was approved. */
            last: {
                /** @description Id of the run. */
                id: string;
                /**
                 * Format: date-time
                 * @description Time at which the run was due.
                 */
                scheduled_at: string;
                /** @description Id of the run that it was compared with. */
                to: string;
                /** @description True if the page changed. */
                changed: boolean;
                /** @description Changed pixels as a share of all pixels, 0 to 1. */
                changed_ratio: number | null;
                changed_pixels: number | null;
                /** @description True if the pictures have different sizes. */
                size_changed: boolean | null;
                /** @description True if the visible text changed. Null: not known. */
                text_changed: boolean | null;
                /** @description New words, at most 20. */
                words_added: string[];
                /** @description Words that are gone, at most 20. */
                words_removed: string[];
            } | null;
        };
        /** @description Settings of the comparison to change. Null restores a default. */
        ScheduleComparisonChanges: {
            /** @description Picture that a run is compared with. previous: that of the run before. approved: the one that was approved last. Default: previous. */
            baseline?: ("previous" | "approved") | null;
            /** @description Share of changed pixels above which the picture counts as changed, 0 to 1. With 0, one pixel is a change. Default: none, so that each changed region of a few pixels is a change. */
            threshold?: number | null;
            /** @description Color difference up to which two pixels count as equal, 0 to 1; 1 is black and white. Default: 0.1. */
            color_tolerance?: number | null;
            /** @description Counts changed pixels at the smoothed edges of text and shapes too. If false, they are detected and ignored. Default: false. */
            antialiasing?: boolean | null;
            /** @description CSS selectors, or regions with x, y, width and height (or left, top, width and height) in CSS pixels of the page, that are not compared, at most 20. The areas of the selectors in both pictures are ignored, if both captures have the selector. Default: none. */
            ignore?: (string | ({
                /** @description CSS selector of elements to ignore. */
                selector?: string;
                /** @description Left edge of a region in CSS pixels of the page, 0 to 50000. */
                x?: number;
                /** @description Top edge, 0 to 50000. */
                y?: number;
                /** @description The same as x. Use it in YAML. */
                left?: number;
                /** @description The same as y. Use it in YAML, where y without quotation marks is a boolean. */
                top?: number;
                /** @description Width, 1 to 50000. */
                width?: number;
                /** @description Height, 1 to 50000. */
                height?: number;
            } & (unknown | ((unknown | unknown) & (unknown | unknown)))))[] | null;
            /** @description HTTP statuses from 400 on with which the page is compared, such as 404 or 500-511, at most 20. Other error pages are not compared. Default: none. */
            accept_status?: string[] | null;
            /** @description With the baseline Approved: approves the first run that shows the page. If false, it waits for a person. Default: false. */
            approve_first?: boolean | null;
        };
        /** @description How runs are compared with an earlier picture. */
        ScheduleComparisonRequest: {
            /**
             * @description Picture that a run is compared with. previous: that of the run before. approved: the one that was approved last. Default: previous.
             * @enum {string}
             */
            baseline?: "previous" | "approved";
            /** @description Share of changed pixels above which the picture counts as changed, 0 to 1. With 0, one pixel is a change. Default: none, so that each changed region of a few pixels is a change. */
            threshold?: number;
            /** @description Color difference up to which two pixels count as equal, 0 to 1; 1 is black and white. Default: 0.1. */
            color_tolerance?: number;
            /** @description Counts changed pixels at the smoothed edges of text and shapes too. If false, they are detected and ignored. Default: false. */
            antialiasing?: boolean;
            /** @description CSS selectors, or regions with x, y, width and height (or left, top, width and height) in CSS pixels of the page, that are not compared, at most 20. The areas of the selectors in both pictures are ignored, if both captures have the selector. Default: none. */
            ignore?: (string | ({
                /** @description CSS selector of elements to ignore. */
                selector?: string;
                /** @description Left edge of a region in CSS pixels of the page, 0 to 50000. */
                x?: number;
                /** @description Top edge, 0 to 50000. */
                y?: number;
                /** @description The same as x. Use it in YAML. */
                left?: number;
                /** @description The same as y. Use it in YAML, where y without quotation marks is a boolean. */
                top?: number;
                /** @description Width, 1 to 50000. */
                width?: number;
                /** @description Height, 1 to 50000. */
                height?: number;
            } & (unknown | ((unknown | unknown) & (unknown | unknown)))))[];
            /** @description HTTP statuses from 400 on with which the page is compared, such as 404 or 500-511, at most 20. Other error pages are not compared. Default: none. */
            accept_status?: string[];
            /** @description With the baseline Approved: approves the first run that shows the page. If false, it waits for a person. Default: false. */
            approve_first?: boolean;
        };
        /** @description The created schedule. */
        ScheduleCreated: {
            message: string;
            data: components["schemas"]["Schedule"];
        };
        /** @description A schedule. */
        ScheduleFound: {
            success: boolean;
            data: components["schemas"]["Schedule"];
        };
        /** @description One page of schedules, oldest first. */
        ScheduleList: {
            success: boolean;
            data: components["schemas"]["Schedule"][];
            pagination: {
                limit: number;
                offset: number;
                /** @description Total number of records. */
                total: number;
                has_more: boolean;
            };
        };
        /** @description Limits of the runs. */
        SchedulePolicy: {
            /** @description Hosts of the page and its frames, after redirects too; *.example.com stands for all subdomains. Null: all. An empty list: none. */
            allowed_hosts: string[] | null;
            /** @description Hosts of all requests of the page, such as images and scripts; also of URLs in options. Null: all. An empty list: none. */
            allowed_request_hosts: string[] | null;
            /** @description Names of options that captures may have. Null: all. An empty list: none. */
            allowed_options: string[] | null;
            /** @description Whether captures may have what can show anything under the name of an allowed host: own markup such as html and styles, scripts, an own proxy, and ignore_https_errors. Null: only if allowed_hosts is null. */
            allow_own_content: boolean | null;
            /** @description Id of the API key. Runs also obey the policy that it has then. */
            key_id: string;
        };
        /** @description A run of a schedule. */
        ScheduleRun: {
            /** @description Id of the screenshot or video. */
            id: string;
            /**
             * Format: date-time
             * @description Time at which the run was due.
             */
            scheduled_at: string;
            /**
             * @description `deleted`: it was deleted before its end was recorded.
             * @enum {string}
             */
            status: "pending" | "completed" | "failed" | "deleted";
            completed_at: string | null;
            /** @description Error code of a failed capture. */
            error_code: string | null;
            /** @description Whether the picture differs from the one that it was compared with. Null if it was not compared. */
            changed: boolean | null;
            /** @description Changed pixels as a share of all pixels, 0 to 1. */
            changed_ratio: number | null;
            /** @description Why the picture was not compared. blank: nearly one color. bot_challenge: a bot challenge or a captcha. http_error: a status of 400 or more that is not accepted. login: a login form where there was none. broken_off: the response broke off. */
            unfit: ("blank" | "bot_challenge" | "http_error" | "login" | "broken_off") | null;
        };
        /** @description One page of runs, the newest first. */
        ScheduleRunList: {
            success: boolean;
            data: components["schemas"]["ScheduleRun"][];
            pagination: {
                limit: number;
                has_more: boolean;
                next_cursor: string | null;
            };
        };
        /** @description The full record of a screenshot. It always has all fields; unknown values are null. */
        Screenshot: {
            /** @description Id of the screenshot. */
            id: string;
            /** @description URL of the page. */
            url: string;
            /** @description Same as url. The response to POST /screenshots/batch has only this name. */
            url_to_capture: string;
            /**
             * @description `pending` until the capture has finished.
             * @enum {string}
             */
            status: "pending" | "completed" | "failed";
            /** @description The options of the request. Always includes format, viewport_width, viewport_height and full_page. Secrets are masked. */
            options: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description Time at which the request was accepted.
             */
            created_at: string;
            started_at: string | null;
            completed_at: string | null;
            /** @description Estimated minimum and maximum duration, from the queue at creation time and the duration of recent captures. */
            estimated_time: string;
            /** @description Path of the stored file. */
            storage_path: string | null;
            file_size_bytes: number | null;
            processing_duration_ms: number | null;
            width: number | null;
            height: number | null;
            /** @description MIME type of the file. */
            content_type: string;
            /** @description A link to the file that needs no key. Null until the capture has completed, and after the file has expired. */
            download_url: string | null;
            download_url_expires_at: string | null;
            /** @description Additional files. */
            artifacts: {
                /**
                 * @description Kind of the artifact.
                 * @enum {string}
                 */
                type: "thumbnail" | "preview" | "html" | "text" | "markdown" | "links" | "mhtml" | "har" | "console" | "accessibility_tree" | "poster" | "diff";
                /** @description A link that needs no key. Null when the file has expired. */
                download_url: string | null;
                /** @description Size in bytes. */
                file_size_bytes: number;
                /** @description Slices in the file of a preview. A Range header reads one slice of it. */
                preview?: {
                    /** @description Pixels of a slice for each CSS pixel. */
                    scale: number;
                    /** @description Width of the whole picture, in CSS pixels. */
                    width: number;
                    /** @description Height of the whole picture, in CSS pixels. */
                    height: number;
                    /** @description Width that the slices show, from the left, in CSS pixels. */
                    shown_width: number;
                    /** @description Height that the slices show, from the top, in CSS pixels. */
                    shown_height: number;
                    /** @description Number of slices of this size that show the whole height. The file can have fewer. */
                    slice_count: number;
                    /** @description The slices, from top to bottom. Neighbors overlap. */
                    slices: {
                        /** @description First byte in the file. */
                        offset: number;
                        /** @description Number of bytes. */
                        length: number;
                        /** @description Width of the slice, in pixels. */
                        width: number;
                        /** @description Height of the slice, in pixels. */
                        height: number;
                        /** @description Top edge in the whole picture, in CSS pixels. */
                        y: number;
                    }[];
                };
            }[];
            /** @description Why the capture failed. */
            error: components["schemas"]["CaptureError"] | null;
            batch_id: string | null;
            schedule_id: string | null;
            /** @description Identifier that the client chose. */
            external_identifier: string | null;
            /** @description Metadata of the page. */
            metadata: {
                /** @description Title of the page. */
                page_title: string | null;
                /** @description URL after redirects. */
                final_url: string | null;
                /** @description HTTP status of the page. */
                http_status: number | null;
                /** @description What drew the picture. */
                engine?: {
                    /** @description Version of Chromium. */
                    chromium: string;
                    /** @description Version of the runner. */
                    runner: string;
                    /** @description Architecture of the processor, such as x64 or arm64. */
                    architecture: string;
                    /** @description Hash of the names and sizes of the fonts. */
                    fonts: string;
                    /** @description Version of the rules by which the runner reads the visible text. Absent: 1. */
                    text?: number;
                };
                /** @description CSS selectors of elements that moved when the picture was taken. */
                moving_elements?: string[];
                /** @description Size of the picture in device pixels (metadata_image_size). */
                image_size?: {
                    width: number;
                    height: number;
                };
                /** @description URLs of the redirects to final_url (metadata_final_url). */
                redirects?: string[];
                /** @description Headers of the page, without cookies (metadata_http_response_headers). */
                http_response_headers?: {
                    [key: string]: string;
                };
                /** @description Open Graph and Twitter tags, and the description (metadata_open_graph). */
                open_graph?: {
                    [key: string]: string;
                };
                /** @description URL of the best icon (metadata_icon). */
                icon?: string;
                /** @description Font families that the page uses (metadata_fonts). */
                fonts?: string[];
                /** @description Milliseconds (metadata_timings). */
                timings?: {
                    /** @description Duration of each step of the capture. */
                    steps: {
                        [key: string]: number;
                    };
                    /** @description Times of the page, from the start of its navigation. */
                    page: {
                        [key: string]: number;
                    };
                };
                /** @description SHA-256 of the file, and a 64-bit perceptual hash in hex: similar pictures share most of its bits (metadata_content_hash). */
                content_hash?: {
                    sha256: string;
                    perceptual?: string;
                };
                /** @description Main colors of the picture (metadata_palette). */
                palette?: string[];
                /** @description URLs that the page links to (metadata_links). */
                links?: string[];
                /** @description Requests of the page that were blocked (metadata_blocked_requests). */
                blocked_requests?: number;
            } | null;
            comparison: {
                /** @description Id of the screenshot of compare_to. */
                to: string;
                /** @description True if the page changed. rule says what decided. */
                changed: boolean;
                /** @description Changed pixels as a share of all pixels, 0 to 1. */
                changed_ratio: number | null;
                changed_pixels: number | null;
                /** @description True if the pictures have different sizes. Pixels that only one of them has are changed. */
                size_changed: boolean | null;
                /** @description Changed regions in pixels of the picture, the largest change first, at most 20. They do not overlap. */
                regions: {
                    x: number;
                    y: number;
                    width: number;
                    height: number;
                }[];
                region_count: number | null;
                dropped_regions: number | null;
                rule: ("identical" | "regions" | "color" | "size" | "share" | "loads" | "text" | "engine") | null;
                /** @description How often the page was loaded: a change is confirmed by a second load. */
                loads: number | null;
                /** @description True if the visible text changed, also outside of the picture. Null: not known. */
                text_changed: boolean | null;
                /** @description True if another browser or other fonts drew the earlier picture. Null: not known. */
                engine_changed: boolean | null;
                /** @description New words of the visible text, at most 20. */
                words_added: string[];
                /** @description Words that are gone, at most 20. */
                words_removed: string[];
                /** @description Link to a PNG of the differences that needs no key. Null if there are none, and after the file has expired. */
                diff_url: string | null;
                /** @description Why the pictures were not compared. blank: nearly one color. bot_challenge: a bot challenge or a captcha. http_error: a status of 400 or more that is not accepted. login: a login form where there was none. broken_off: the response broke off. */
                skipped: ("blank" | "bot_challenge" | "http_error" | "login" | "broken_off") | null;
            } | null;
            /** @description Options without effect, and problems of the page. */
            warnings: string[];
            /** @description True when the picture was cut at full_page_max_height or at the size limit of its format. */
            truncated: boolean;
            /** @description True when the picture is a copy of an earlier one. */
            cached: boolean;
            /** @description Number of attempts so far. */
            attempts: number;
            /** @description Units of quota that it costs. 0 for a cached picture, and for a failed capture, unless the page used a runner for more than 60 seconds. */
            cost: number;
            /**
             * @description Format of the file.
             * @enum {string}
             */
            format: "png" | "jpeg" | "webp" | "avif" | "pdf";
        };
        /** @description One page of screenshots. */
        ScreenshotList: {
            success: boolean;
            data: components["schemas"]["Screenshot"][];
            pagination: {
                /** @description Records per page. */
                limit: number;
                /** @description Records skipped. */
                offset: number;
                /** @description True when there are more pages. */
                has_more: boolean;
                /** @description `cursor` of the next page. */
                next_cursor: string | null;
            };
        };
        /** @description Status of the service and its components. */
        ServiceStatus: {
            /**
             * @description Status of the whole service.
             * @enum {string}
             */
            status: "operational" | "degraded" | "outage";
            /** @description Version of this API. */
            version: string;
            /**
             * Format: date-time
             * @description Now.
             */
            timestamp: string;
            /** @description Seconds since this replica started. */
            uptime_seconds: number;
            /** @description Milliseconds to build this response. */
            response_time_ms: number;
            components: {
                /** @description The Kubernetes API. */
                database: {
                    /** @enum {string} */
                    status: "operational" | "degraded" | "outage";
                    /** @description Response time in milliseconds. */
                    response_time_ms: number;
                };
                /** @description The bucket. */
                storage: {
                    /** @enum {string} */
                    status: "operational" | "degraded" | "outage";
                    /** @description Response time in milliseconds. */
                    response_time_ms: number;
                };
                api: {
                    /** @enum {string} */
                    status: "operational" | "degraded" | "outage";
                };
            };
        };
        /** @description The new signing secret. It is shown only once. */
        SigningSecretRotated: {
            message: string;
            data: {
                signing_secret: string;
                previous_secret_expires_at: string | null;
            };
        };
        /** @description State of the whole service. */
        System: {
            success: boolean;
            data: {
                pools: {
                    name: string;
                    /** @description True when the pool has a runner that takes captures. Null before the operator has said so. */
                    ready: boolean | null;
                    /** @description Reason of `ready`. */
                    reason: string | null;
                    /** @description Explanation of `ready`. */
                    message: string | null;
                    /** @description Why the pool does not have the runners that it needs, such as AtMaximum: captures wait, and it has `max_pods` runners. */
                    problem: {
                        reason: string;
                        message: string;
                    } | null;
                    /** @description False when the nodes allow no sandbox around the browser. */
                    sandboxed: boolean | null;
                    records_videos: boolean;
                    /** @description Minimum number of idle runners. */
                    min_idle: number;
                    /** @description Maximum number of runners. */
                    max_pods: number;
                    /** @description Runners that exist. */
                    pods: number;
                    /** @description Runners without a capture. */
                    idle: number;
                    /** @description Runners with a capture. */
                    busy: number;
                    /** @description Captures that wait for a runner of the pool. */
                    queued: number;
                }[];
                /** @description Runners with a capture, the longest first, at most 500. */
                runners: {
                    pod: string;
                    screenshot_id: string;
                    account: string;
                    started_at: string | null;
                }[];
                /** @description The queue by pool and plan. */
                queue: {
                    /** @description Pool that captures them. */
                    pool: string;
                    /** @description Null: the account does not exist. */
                    plan: string | null;
                    /** @description Accounts with queued or running captures. */
                    accounts: number;
                    /** @description Captures that wait for a runner. */
                    queued: number;
                    /** @description Captures that run. */
                    running: number;
                }[];
                /** @description Finished captures that are not archived yet: those of about the last hour. */
                recent: {
                    /** @description Completed captures. */
                    completed: number;
                    /** @description Failed captures. */
                    failed: number;
                    /** @description Failed captures by code, the most frequent first. */
                    failures: {
                        code: string;
                        /** @description Failed captures with this code. */
                        count: number;
                    }[];
                };
            };
        };
        /** @description Fields of a key to change, at least one. */
        UpdateKey: {
            /** @description Display name, at most 100 characters. */
            name?: string;
            /** @description Scopes of the key. A key cannot grant scopes that it lacks. */
            scopes?: ("*" | "screenshots:read" | "screenshots:write" | "webhooks:read" | "webhooks:write" | "schedules:read" | "schedules:write" | "keys:read" | "keys:write" | "usage:read")[];
            /** @description False makes the key invalid until it is true again. Null: true. */
            is_active?: boolean | null;
            /** @description When the key expires. Null: never. */
            expires_at?: string | null;
            /** @description Limits of the signed links of the key. PATCH keeps limits that are absent. Null: none. */
            link_policy?: components["schemas"]["LinkPolicyRequest"] | null;
            /** @description Limits of the captures of the key. PATCH keeps limits that are absent. Null: none. */
            capture_policy?: components["schemas"]["CapturePolicyRequest"] | null;
        };
        /** @description Fields of a schedule to change, at least one: a merge patch (RFC 7396). Null restores a default. */
        UpdateSchedule: {
            /** @description Name for people, at most 100 characters. Default: the name of the object. */
            name?: string | null;
            /** @description When to capture: a cron expression of five fields, a macro such as @hourly, or @every and a duration such as 1h30m. As in Kubernetes’ CronJob. */
            schedule?: string;
            /** @description Time zone of the schedule: a name of the IANA database such as Europe/Zurich. Default: UTC. */
            time_zone?: string | null;
            /** @description If true, no runs are created. Default: false. */
            suspend?: boolean | null;
            /** @description forbid: a run waits until the previous one has ended. allow: runs may overlap. Default: forbid. */
            concurrency_policy?: ("forbid" | "allow") | null;
            /** @description Seconds after its due time within which a missed run may still start, 1 to 31622400. Default: no limit. */
            starting_deadline_seconds?: number | null;
            /** @description Seconds over which schedules are spread, 0 to 86400: each is late by a part of it that its uid determines. Default: 0. */
            spread_seconds?: number | null;
            /** @description How runs are compared. Null: not at all. */
            comparison?: components["schemas"]["ScheduleComparisonChanges"] | null;
            /** @description Your own identifier, 1 to 64 letters, digits, - and _. The record returns it. Default: none. */
            external_identifier?: string | null;
            /** @description File name for downloads, at most 128 characters. Without it, browsers show images and save PDFs. Default: none. */
            attachment_name?: string | null;
            /** @description Lifetime of the record’s download links in seconds, 60 to 604800. Default: 86400. */
            download_url_ttl?: number | null;
            /** @description Days to keep the files, 1 to 365, and at most the retention of the account’s plan. Default: the plan’s. */
            retention_days?: number | null;
            /** @description URL to which the events of this request are posted, in addition to registered endpoints: https, public, without user name, password and fragment. */
            webhook_url?: string | null;
            /** @description Events that are posted to webhook_url. Default: completed and failed. */
            webhook_events?: ("screenshot.queued" | "screenshot.completed" | "screenshot.changed" | "screenshot.unfit" | "screenshot.fit" | "screenshot.failed" | "video.completed" | "video.failed")[] | null;
            /** @description Null removes the capture policy of the schedule. Only an API key without a capture policy can. */
            capture_policy?: null;
            url?: string | null;
            /** @description Capture options to change. Null removes an option, or all of them. */
            options?: {
                /** @description Width of the viewport in CSS pixels, 1 to 7680. Default: 1920. */
                viewport_width?: number | null;
                /** @description Height of the viewport in CSS pixels, 1 to 7680. Default: 1080. */
                viewport_height?: number | null;
                /** @description Device pixels per CSS pixel, 0.1 to 5. Default: 1. */
                device_scale_factor?: number | null;
                /** @description Device to emulate: its viewport, pixel ratio, touch and user agent. Other options override these. Default: none. */
                device?: string | null;
                /** @description Sets the CSS media feature prefers-color-scheme to dark. Default: false. */
                dark_mode?: boolean | null;
                /** @description The page as HTML, instead of url, 1 to 2097152 characters. The browser still loads its resources from the network. Default: none. */
                html?: string | null;
                /** @description The page as Markdown, instead of url, 1 to 1048576 characters. It is rendered on a white background, with tables, task lists, and headings whose ids are those of GitHub. HTML in it is shown as text. Default: none. */
                markdown?: string | null;
                /** @description Base URL of html or markdown for relative links, http or https. Default: none. */
                html_base_url?: string | null;
                /** @description URL in the header Referer of the page’s request, http or https. Default: none. */
                referer?: string | null;
                /** @description Blocks every request of html or markdown, so that only inline content is shown. Default: false. */
                offline?: boolean | null;
                /** @description User agent that servers and scripts see, at most 1024 characters. Client hints match it, and service workers are blocked. Default: the device’s, else the browser’s own. */
                user_agent?: string | null;
                /** @description Platform that scripts and client hints report, such as Win32, MacIntel or Linux x86_64, at most 64 characters. Workers report the browser’s own. Default: the platform that matches user_agent. */
                user_agent_platform?: string | null;
                /** @description Header Accept-Language of every request, at most 256 characters; does not change locale. Default: derived from locale. */
                accept_language?: string | null;
                /** @description Which requests carry headers and authorization: same_origin for the page’s own origin, same_site for hosts of its site, all for every request, also to third parties. Default: same_origin. */
                headers_scope?: ("same_origin" | "same_site" | "all") | null;
                /** @description URL of the proxy for the page’s traffic: http, https or socks5, with host and port. A user name and password in it become proxy_username and proxy_password. Default: none. */
                proxy?: string | null;
                /** @description Hosts to reach without the proxy, at most 50; *.example.com matches all subdomains. Default: none. */
                proxy_bypass?: string[] | null;
                /** @description Accepts invalid TLS certificates. Default: false. */
                ignore_https_errors?: boolean | null;
                /** @description HTTP cache: batch shares scripts, style sheets, fonts and images among the captures of one batch; off requests them again for each capture. The cache stores only fresh responses to requests without cookies or credentials. No effect outside a batch. Default: batch. */
                http_cache?: ("off" | "batch") | null;
                /** @description Latitude of the emulated geolocation in degrees, -90 to 90. Default: none, geolocation is denied. */
                geolocation_latitude?: number | null;
                /** @description Longitude of the emulated geolocation in degrees, -180 to 180. Default: none. */
                geolocation_longitude?: number | null;
                /** @description Accuracy of the emulated geolocation in meters, 0 to 100000. Default: 0. */
                geolocation_accuracy?: number | null;
                /** @description IANA time zone of the page, such as Europe/Vienna, in capital or small letters. Default: UTC. */
                timezone?: string | null;
                /** @description Language and region of the page as a BCP 47 tag, such as de-AT. Sets the formats of scripts, navigator.language and Accept-Language. What the browser draws by itself stays American English: form fields for dates, times, months, weeks, numbers and files, buttons without a label, and validation messages. The lang attribute of the page decides the forms of Han letters; without it they are those of simplified Chinese. Default: en-US. */
                locale?: string | null;
                /** @description Time at which the clock of each document starts when it loads, ISO 8601 with a zone, 1990 to 2100. A day alone begins at 00:00 UTC. It runs on, so that delayed work of the page happens. A pdf has this time as its date. Default: none, the clock is the real one. */
                fixed_time?: string | null;
                /** @description Lays the page out as a phone does: honors its viewport tag and overlays scroll bars. Default: the device’s, else false. */
                viewport_mobile?: boolean | null;
                /** @description Reports a touch screen to the page. Default: the device’s, else false. */
                viewport_has_touch?: boolean | null;
                /** @description Makes the longer side of the window its width. Default: false. */
                viewport_landscape?: boolean | null;
                /** @description CSS media type: screen or print. Default: screen, and print for a pdf. */
                media_type?: ("screen" | "print") | null;
                /** @description Sets the CSS media feature prefers-reduced-motion to reduce. Default: false. */
                reduced_motion?: boolean | null;
                /** @description Replaces the page’s colors with a few high-contrast colors. Default: false. */
                forced_colors?: boolean | null;
                /** @description CSS media feature prefers-contrast: no_preference, more or less. Default: no_preference. */
                prefers_contrast?: ("no_preference" | "more" | "less") | null;
                /** @description Other CSS media features by name, such as color-gamut: p3, at most 20. Default: none. */
                media_features?: {
                    [key: string]: string | null;
                } | null;
                /** @description Darkens pages that have no dark color scheme. Default: false. */
                dark_mode_force?: boolean | null;
                /** @description Runs the page’s scripts. Scripts in these options run in either case. Default: true. */
                javascript_enabled?: boolean | null;
                /** @description Disables the page’s Content-Security-Policy, so that scripts can add blocked content. Default: false. */
                bypass_csp?: boolean | null;
                /** @description Zoom of the browser, 0.25 to 5: the window has fewer and larger CSS pixels, so media queries and vh follow. The picture has the same size in pixels. For a pdf, magnifies the page. Default: 1. */
                page_zoom?: number | null;
                /** @description CSS to add to the page, at most 262144 characters. Default: none. */
                styles?: string | null;
                /** @description JavaScript to run in the page after it has loaded, at most 262144 characters. If javascript_enabled is false, its timers never fire. Default: none. */
                scripts?: string | null;
                /** @description CSS selector of an element to click before the picture is taken. A new tab that it opens replaces the page. Default: none. */
                click?: string | null;
                /** @description JavaScript to run in every frame before the page’s own scripts, at most 262144 characters. Default: none. */
                init_script?: string | null;
                /** @description States to wait for again after scripts, if scripts change the page or navigate: load, domcontentloaded, networkidle. Default: none. */
                scripts_wait_until?: ("load" | "domcontentloaded" | "networkidle")[] | null;
                /** @description URLs of scripts to run in the page after it has loaded, at most 10. Default: none. */
                script_urls?: string[] | null;
                /** @description URLs of style sheets to add to the page, at most 10. Default: none. */
                style_urls?: string[] | null;
                /** @description CSS selectors of elements to remove from the layout, at most 100. Default: none. */
                hide_selectors?: string[] | null;
                /** @description Applies hide_selectors inside shadow roots and frames too. All other options search them always. Default: false. */
                include_shadow_dom?: boolean | null;
                /** @description CSS selectors of elements to cover with a box of one color, such as private or changing content, at most 50. Their content is in no file except HAR, MHTML and console messages. In a pdf, the elements are left blank instead. Default: none. */
                mask_selectors?: string[] | null;
                /** @description CSS color of the boxes of mask_selectors. Default: #ff00ff. */
                mask_color?: string | null;
                /** @description Fails the capture if click matches no element; if false, the record has a warning. Default: true. */
                error_on_click_selector_not_found?: boolean | null;
                /** @description CSS selector of elements to click one after the other, at most 50. Default: none. */
                click_all?: string | null;
                /** @description CSS selector of an element to hover over while the picture is taken. Default: none. */
                hover?: string | null;
                /** @description Fails the capture if hover matches no element; if false, the record has a warning. Default: true. */
                error_on_hover_selector_not_found?: boolean | null;
                /** @description Key to press after the page has loaded, such as Escape, Enter, PageDown or Control+A. Default: none. */
                press_key?: string | null;
                /** @description CSS selector of an element to scroll to before the picture is taken. Default: none. */
                scroll_into_view?: string | null;
                /** @description CSS pixels to scroll additionally after scroll_into_view, -10000 to 10000. Default: 0. */
                scroll_into_view_adjust_top?: number | null;
                /** @description Horizontal scroll position in CSS pixels, 0 to 50000. Default: 0. */
                scroll_x?: number | null;
                /** @description Vertical scroll position in CSS pixels, 0 to 50000. Default: 0. */
                scroll_y?: number | null;
                /** @description Stops animations and transitions of CSS, and animations of SVG elements, before the picture is taken: finite ones show their last frame, infinite ones their first. Animated image files go on. Default: false. */
                disable_animations?: boolean | null;
                /** @description Stops audio, and stops videos at their first frame. Default: false. */
                pause_videos?: boolean | null;
                /** @description Blocks advertisements. Default: false. */
                block_ads?: boolean | null;
                /** @description Blocks analytics scripts and other trackers. Default: false. */
                block_trackers?: boolean | null;
                /** @description Responds to cookie consent banners, and hides the banners that it cannot respond to. Default: false. */
                block_cookie_banners?: boolean | null;
                /** @description What block_cookie_banners does: opt_out rejects cookies, opt_in accepts them, hide only hides the banner. Default: opt_out. */
                cookie_banner_action?: ("opt_out" | "opt_in" | "hide") | null;
                /** @description Hides elements that look like banners or overlays, even if no filter list has them. Default: false. */
                block_banners_by_heuristics?: boolean | null;
                /** @description Blocks chat widgets and similar helpers. Default: false. */
                block_chats?: boolean | null;
                /** @description Blocks buttons and embedded posts of social networks. Default: false. */
                block_socials?: boolean | null;
                /** @description Blocks newsletter pop-ups, app banners, notification requests and similar annoyances. Default: false. */
                block_annoyances?: boolean | null;
                /** @description URL patterns of requests to block, at most 100; * matches any text, as in *://*.example.com/*. Default: none. */
                block_requests?: string[] | null;
                /** @description Types of requests to block: document (frames), stylesheet, image, media, font, script, texttrack, xhr, fetch, eventsource, websocket, manifest, other. The browser does not distinguish xhr from fetch. Default: none. */
                block_resources?: ("document" | "stylesheet" | "image" | "media" | "font" | "script" | "texttrack" | "xhr" | "fetch" | "eventsource" | "websocket" | "manifest" | "other")[] | null;
                /** @description URL patterns of requests that no other option blocks, at most 100; * matches any text. Default: none. */
                allow_requests?: string[] | null;
                /** @description Blocks every request to a site other than the page’s own. Default: false. */
                block_third_party?: boolean | null;
                /** @description Blocks service workers. Always on when another option filters requests. Default: false. */
                block_service_workers?: boolean | null;
                /** @description Milliseconds to wait before the picture is taken, 0 to 60000. Default: 0. */
                delay?: number | null;
                /** @description Maximum time for the page to load in milliseconds, 1000 to 180000. Default: 30000. */
                timeout?: number | null;
                /** @description CSS selector of an element to wait for before the picture is taken. Default: none. */
                wait_for_selector?: string | null;
                /** @description States to wait for within timeout: load, domcontentloaded, networkidle, commit. All must be reached. Default: load. */
                wait_until?: ("load" | "domcontentloaded" | "networkidle" | "commit")[] | null;
                /** @description Maximum time for a whole attempt in milliseconds, 5000 to 600000. Default: the sum of the other time limits. */
                job_timeout?: number | null;
                /** @description Maximum time for taking the picture or recording the video, and for comparing it, in milliseconds, 1000 to 600000. Default: 30000, with full_page 2 more for each pixel of full_page_max_height, at most 120000; for a video 200 more for each frame, and in proportion more above 1920 × 1080, at most 600000. */
                capture_timeout?: number | null;
                /** @description State that wait_for_selector waits for: visible, or attached for any element in the DOM. Default: visible. */
                wait_for_selector_state?: ("visible" | "attached") | null;
                /** @description Maximum wait in milliseconds for each selector, expression, click and hover, 0 to 120000. Default: timeout. */
                wait_for_selector_timeout?: number | null;
                /** @description Number of elements that wait_for_selector must match, 1 to 1000. Default: 1. */
                wait_for_selector_count?: number | null;
                /** @description CSS selector that must match no visible element before the picture is taken. Default: none. */
                wait_for_selector_gone?: string | null;
                /** @description JavaScript expression that must become true before the picture is taken, at most 8192 characters. Default: none. */
                wait_for_function?: string | null;
                /** @description Maximum wait in milliseconds for fonts and images in the picture after all other waits, 0 to 30000; 0 disables it. Default: 3000. */
                wait_for_fonts_timeout?: number | null;
                /** @description Waits until the images in the picture are loaded, at most wait_for_selector_timeout: also backgrounds, posters, images in components, and images added meanwhile. Default: false. */
                wait_for_images?: boolean | null;
                /** @description Maximum wait in milliseconds for animations, timers and late requests to end, 0 to 10000; 0 disables it. The page’s time runs faster than real time; the wait ends when either reaches the maximum. While the page gains content or receives data, it takes up to 8 seconds, with compare_to 15. With full_page, content that appears on scroll is shown too. Endless animations show the same phase in each picture. Default: 2000. */
                stability_timeout?: number | null;
                /** @description Milliseconds without a request after which networkidle is reached, 100 to 10000. Default: 500. */
                network_idle_time?: number | null;
                /** @description Maximum number of open requests for networkidle, 0 to 10. Default: 0. */
                network_idle_max_connections?: number | null;
                /** @description Maximum wait for networkidle in milliseconds, 0 to 180000; after it, the picture is taken with a warning. Default: timeout. */
                network_idle_timeout?: number | null;
                /** @description Milliseconds without a DOM change before the picture is taken, 0 to 10000. Default: 0. */
                dom_idle_time?: number | null;
                /** @description Takes the picture with a warning if a wait times out, instead of failing the capture. Default: false. */
                best_attempt?: boolean | null;
                /** @description Maximum number of retries after a transient failure, 0 to 5. Default: 1. */
                retries?: number | null;
                /** @description Milliseconds to wait before each retry, 0 to 60000. Default: 1000. */
                retry_delay?: number | null;
                /** @description How to handle a picture that shows nearly one color: accept keeps it, retry retries once and then keeps it with a warning, fail retries once and then fails. Default: retry. */
                blank_page_action?: ("accept" | "retry" | "fail") | null;
                /** @description HTTP statuses of the page that fail the capture, such as 404 or 500-511, at most 20. Default: none. */
                fail_on_status?: string[] | null;
                /** @description Texts that fail the capture if the page shows one of them, at most 20. Default: none. */
                fail_if_content_contains?: string[] | null;
                /** @description Texts that fail the capture if one of them is missing from the page, at most 20. Default: none. */
                fail_if_content_missing?: string[] | null;
                /** @description CSS selectors that fail the capture if an element matches one of them, at most 20. Default: none. */
                fail_if_selector_present?: string[] | null;
                /** @description URL patterns of requests whose failure fails the capture, at most 20; * matches any text. Default: none. */
                fail_if_request_failed?: string[] | null;
                /** @description Fails the capture if scripts throws an error; if false, the record has a warning. A syntax error always fails the capture. Default: true. */
                fail_on_script_error?: boolean | null;
                /** @description Whether a redirect to another URL fails the capture: never, cross_site or always. Default: never. */
                fail_on_redirect?: ("never" | "cross_site" | "always") | null;
                /** @description Fails the capture if a script of the page throws an uncaught error. Default: false. */
                fail_on_page_error?: boolean | null;
                /** @description Fails the capture if the site shows a bot challenge. Default: false. */
                fail_on_bot_challenge?: boolean | null;
                /** @description Captures the whole scrollable page instead of the viewport. Default: false. */
                full_page?: boolean | null;
                /** @description Maximum height of a full-page picture in CSS pixels, 1000 to 50000. Default: 25000. */
                full_page_max_height?: number | null;
                /** @description Scrolls smoothly down the page before a full-page picture, so that content that appears on scroll is captured. Default: false. */
                full_page_scroll?: boolean | null;
                /** @description Milliseconds to wait after each scroll of full_page_scroll, 0 to 10000. Default: 0. */
                full_page_scroll_delay?: number | null;
                /** @description CSS pixels of each scroll of full_page_scroll, 100 to 5000. Default: the height of the viewport. */
                full_page_scroll_by?: number | null;
                /** @description Maximum number of scrolls of full_page_scroll, 1 to 500, for pages with infinite scrolling. Default: as many as full_page_max_height needs. */
                full_page_max_scrolls?: number | null;
                /** @description Scrolls quickly down the page and back before a full-page picture, in at most two seconds, so that lazy content loads. For a slow scroll, use full_page_scroll. Default: true. */
                full_page_sweep?: boolean | null;
                /** @description Loads images and frames with loading=lazy immediately for a full-page picture. Default: true. */
                full_page_eager_images?: boolean | null;
                /** @description How to capture a full page: native takes one picture, stitch joins sections, auto uses native up to a height of 8192 device pixels. Above 16384, native stitches too. Default: auto. */
                full_page_algorithm?: ("auto" | "native" | "stitch") | null;
                /** @description Height of a section in device pixels, 500 to 16000, for full_page_algorithm stitch and full_page_fixed_elements keep. Default: 4096. */
                full_page_section_height?: number | null;
                /** @description How to show fixed and sticky elements in a full page: once shows them where they are at the top of the page, and bars at the bottom of the window at the end of the picture; hide hides them; keep shows them in every section of a stitched page. In the picture of an element or region that the window does not contain, once shows them where a full page does, and keep where they are in the window. Default: once. */
                full_page_fixed_elements?: ("once" | "hide" | "keep") | null;
                /** @description Keeps the height of elements that are as tall as the viewport constant during a full-page capture. Needed only for pages that grow because of scripts or expanded panels. Default: false. */
                full_page_fix_viewport_units?: boolean | null;
                /** @description Captures the whole width of a full page that is wider than the viewport. Default: false. */
                full_page_full_width?: boolean | null;
                /** @description CSS selector of the part that scrolls instead of the page, auto for the largest one, or none; a full page shows all of it. none also leaves a locked page as it is, even if its dialog is hidden. Lists that draw only the rows in view, editors, dialogs and frames of other origins are left as they are. Default: the part that fills at least half of the viewport of a page that does not scroll itself, unless it is one of several panes. */
                full_page_scroll_container?: string | null;
                /** @description How to handle a page that is longer than full_page_max_height or than its format allows: crop cuts it, scale shrinks the picture, fail returns TOO_LARGE. Default: crop. */
                full_page_overflow?: ("crop" | "scale" | "fail") | null;
                /** @description CSS selector of an element to capture instead of the viewport. The first visible match is captured, as far as boxes around it show it. A hidden match is waited for at most 5 seconds in a page that loads nothing. Default: none. */
                selector?: string | null;
                /** @description How to capture selector: element scrolls to it first, clip cuts its box out of the page without scrolling. Default: element. */
                selector_algorithm?: ("element" | "clip") | null;
                /** @description Captures the area that contains all visible matches of selector. Default: false. */
                selector_all?: boolean | null;
                /** @description CSS pixels of the page around selector to capture too, 0 to 1000. Default: 0. */
                selector_padding?: number | null;
                /** @description Hides elements over or beside selector, such as fixed headers. Default: false. */
                selector_isolate?: boolean | null;
                /** @description Scrolls to selector before the capture, so that lazy content loads. Default: true. */
                selector_scroll_into_view?: boolean | null;
                /** @description Fails the capture with SELECTOR_NOT_FOUND if selector matches no visible element; if false, captures the viewport with a warning. Default: false. */
                error_on_selector_not_found?: boolean | null;
                /** @description Left edge of a region of the page to capture, in CSS pixels, 0 to 50000. Default: none. */
                clip_x?: number | null;
                /** @description Top edge of a region of the page to capture, in CSS pixels, 0 to 50000. Default: none. */
                clip_y?: number | null;
                /** @description Width of a region of the page to capture, in CSS pixels, 1 to 20000. Default: none. */
                clip_width?: number | null;
                /** @description Height of a region of the page to capture, in CSS pixels, 1 to 50000. Default: none. */
                clip_height?: number | null;
                /** @description Captures content outside the viewport without resizing the viewport. If false, a region ends at the edge of the viewport, and a full page enlarges the viewport to at most 16384 pixels. Default: true. */
                capture_beyond_viewport?: boolean | null;
                /** @description Format of the file: png, jpeg, webp, avif or pdf, and for a video mp4, webm or gif. Default: png. */
                format?: ("png" | "jpeg" | "webp" | "avif" | "pdf" | "mp4" | "webm" | "gif") | null;
                /** @description Quality of a jpeg, webp or avif, 0 to 100. A higher value looks better and makes a larger file. No effect on other formats. Default: 90. */
                image_quality?: number | null;
                /** @description Makes the page background transparent; png only. Default: false. */
                omit_background?: boolean | null;
                /** @description Width to resize the picture to in pixels, 1 to 10000. Default: none. */
                image_width?: number | null;
                /** @description Height to resize the picture to in pixels, 1 to 50000. Default: none. */
                image_height?: number | null;
                /** @description How to fit the picture into both image_width and image_height: cover cuts, contain pads, fill distorts, inside stays within both, outside covers both. Default: inside. */
                image_fit?: ("cover" | "contain" | "fill" | "inside" | "outside") | null;
                /** @description Part of the picture to keep if image_fit cuts: top, bottom, left, right, center, or the most detailed part by entropy or attention. Default: top. */
                image_position?: ("top" | "center" | "bottom" | "left" | "right" | "entropy" | "attention") | null;
                /** @description Allows image_width and image_height to enlarge the picture, up to the limits of its format. Default: false. */
                image_upscale?: boolean | null;
                /** @description Color that fills padding and, in a jpeg, transparent areas: a hex value, rgb(), rgba() or one of the 17 names of CSS 2. Default: #ffffff. */
                image_background?: string | null;
                /** @description Background color for pages that set none: a hex value, rgb(), rgba() or one of the 17 names of CSS 2. Default: none. */
                background_color?: string | null;
                /** @description Removes borders of one color. Default: false. */
                image_trim?: boolean | null;
                /** @description Maximum color difference within a border for image_trim, 0 to 255. Default: 10. */
                image_trim_threshold?: number | null;
                /** @description Pixels of image_background around the picture, 0 to 500. Default: 0. */
                image_padding?: number | null;
                /** @description Encodes a webp or avif without loss. A png is always lossless. Default: false. */
                image_lossless?: boolean | null;
                /** @description Encodes a progressive jpeg or an interlaced png. Default: false. */
                image_progressive?: boolean | null;
                /** @description Number of colors in the palette of a png, 2 to 256; 0 disables the palette. A palette makes the file much smaller. Default: 0. */
                image_palette_colors?: number | null;
                /** @description Maximum size of the file in bytes, 10240 to 52428800. Quality, then dimensions, are reduced until the file fits. Default: none. */
                image_max_bytes?: number | null;
                /** @description Converts the picture to grayscale. Default: false. */
                image_grayscale?: boolean | null;
                /** @description Encodes a png faster; if false, encoding takes longer and the file is smaller. Default: true. */
                optimize_for_speed?: boolean | null;
                /** @description Width of a thumbnail in pixels, 16 to 2000. Default: none. */
                thumbnail_width?: number | null;
                /** @description Height of a thumbnail in pixels, 16 to 2000. Together with thumbnail_width, the thumbnail shows the top part of the picture. Default: none. */
                thumbnail_height?: number | null;
                /** @description Format of the thumbnail: jpeg, png or webp. Default: the format of the picture, or webp for avif. */
                thumbnail_format?: ("jpeg" | "png" | "webp") | null;
                /** @description Stores a small copy beside the picture: fit is one picture, of a taller page the first slice; slices has up to preview_max_slices, one behind the other in one file. Default: none. */
                preview?: ("fit" | "slices") | null;
                /** @description Format of each slice: webp or jpeg. Default: webp. */
                preview_format?: ("webp" | "jpeg") | null;
                /** @description Maximum width and height of each slice in pixels, 896 to 2000. Default: 1568. */
                preview_max_side?: number | null;
                /** @description Maximum bytes of each slice, 65536 to 1048576. Quality is reduced until the slice fits, then its height. Default: 262144. */
                preview_max_bytes?: number | null;
                /** @description Maximum number of slices, for preview slices, 1 to 12. Default: 12. */
                preview_max_slices?: number | null;
                /** @description Paper format of a pdf: a0 to a6, letter, legal, tabloid or ledger. Default: a4. */
                pdf_paper_format?: ("a0" | "a1" | "a2" | "a3" | "a4" | "a5" | "a6" | "letter" | "legal" | "tabloid" | "ledger") | null;
                /** @description Width of the sheet with a unit, such as 210mm, 8.5in or 800px. Overrides pdf_paper_format. Default: none. */
                pdf_width?: string | null;
                /** @description Height of the sheet with a unit, such as 297mm or 11in. Overrides pdf_paper_format. Default: none. */
                pdf_height?: string | null;
                /** @description Prints in landscape orientation. Default: false. */
                pdf_landscape?: boolean | null;
                /** @description Prints backgrounds. Default: true. */
                pdf_print_background?: boolean | null;
                /** @description Scale of the content, 0.1 to 2. Default: 1. */
                pdf_scale?: number | null;
                /** @description Margin at the top, such as 10mm. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_top?: string | null;
                /** @description Margin on the right. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_right?: string | null;
                /** @description Margin at the bottom. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_bottom?: string | null;
                /** @description Margin on the left. Default: that of the page’s own @page rule, else 0. */
                pdf_margin_left?: string | null;
                /** @description Pages to include, such as 1-3,5. The capture fails if no page matches. Default: all. */
                pdf_page_ranges?: string | null;
                /** @description Prints all content on one sheet that is as tall as the content. The width is pdf_width or that of pdf_paper_format. Page breaks, and @page rules of the page, have no effect. Default: false. */
                pdf_fit_one_page?: boolean | null;
                /** @description Prefers the page’s own CSS @page size. Default: false. */
                pdf_prefer_css_page_size?: boolean | null;
                /** @description HTML to print at the top of each sheet within pdf_margin_top, at most 16384 characters. The browser fills in spans with class date, title, url, pageNumber or totalPages. Images can use data: URLs only. Default: none. */
                pdf_header_template?: string | null;
                /** @description HTML to print at the bottom of each sheet, with the rules of pdf_header_template, at most 16384 characters. Default: none. */
                pdf_footer_template?: string | null;
                /** @description Tags the content for screen readers. Default: false. */
                pdf_tagged?: boolean | null;
                /** @description Creates bookmarks from the headings, and tags the content too. Default: false. */
                pdf_outline?: boolean | null;
                /** @description Length of the video in seconds, 1 to 120; a gif has at most 15. Default: 5. */
                video_duration?: number | null;
                /** @description Frames in each second, 5 to 60. A video has at most 3600 frames. Default: 30. */
                video_fps?: number | null;
                /** @description Width of the video in pixels, 64 to 3840; the height follows. Default: the width of the viewport × device_scale_factor. */
                video_width?: number | null;
                /** @description Quality of the video, 0 to 100. A higher value makes a larger file. Default: 70. */
                video_quality?: number | null;
                /** @description What the video shows: record shows the page as it moves, scroll scrolls smoothly to its end. Default: record. */
                video_scenario?: ("record" | "scroll") | null;
                /** @description Milliseconds of one scroll from the top to the end, 100 to 120000. Default: what video_duration leaves beside the pauses; with video_scroll_back, half of it. */
                video_scroll_duration?: number | null;
                /** @description Speed curve of the scroll: linear, ease_in, ease_out or ease_in_out. Default: ease_in_out. */
                video_scroll_easing?: ("linear" | "ease_in" | "ease_out" | "ease_in_out") | null;
                /** @description Scrolls back to the top after the pause at the end. Default: false. */
                video_scroll_back?: boolean | null;
                /** @description Milliseconds to rest before the scroll and at its end, 0 to 10000. Default: 500. */
                video_scroll_pause?: number | null;
                /** @description Stores the first frame as a jpeg beside the video. Default: false. */
                video_poster?: boolean | null;
                /** @description Clock of the page: exact advances it frame by frame, so that a slow machine drops no frame; real records as it happens, for pages that play sound or talk to servers. Default: exact. */
                video_timing?: ("exact" | "real") | null;
                /** @description Stores the page’s final HTML, with the values of visible fields and without passwords, beside the capture. Default: false. */
                save_html?: boolean | null;
                /** @description Stores the page’s visible text, with that of fields, buttons and style sheets and without passwords, beside the capture. Default: false. */
                save_text?: boolean | null;
                /** @description Stores the page’s article as Markdown, or the whole page if it has no article, beside the capture. Default: false. */
                save_markdown?: boolean | null;
                /** @description Stores the page’s links as JSON, with their URLs, texts and whether they stay within the site, beside the capture. Default: false. */
                save_links?: boolean | null;
                /** @description Stores the page with its images and styles as one MHTML file, which can contain what mask_selectors hides, beside the capture. Default: false. */
                save_mhtml?: boolean | null;
                /** @description Stores the page’s requests as a HAR file, without cookies, credentials or bodies, which can contain what mask_selectors hides, beside the capture. Default: false. */
                save_har?: boolean | null;
                /** @description Stores console messages and uncaught errors, which can contain what mask_selectors hides, as JSON beside the capture. Default: false. */
                save_console?: boolean | null;
                /** @description Stores the accessibility tree as JSON beside the capture. Default: false. */
                save_accessibility_tree?: boolean | null;
                /** @description Records the page’s title. Always on. Default: true. */
                metadata_page_title?: boolean | null;
                /** @description Records the redirects that led to final_url in the record’s metadata. Default: false. */
                metadata_final_url?: boolean | null;
                /** @description Records the HTTP status of the page. Always on. Default: true. */
                metadata_http_response_status_code?: boolean | null;
                /** @description Records the response headers of the page, except cookies, in the record’s metadata. Default: false. */
                metadata_http_response_headers?: boolean | null;
                /** @description Records width and height of the picture in the record’s metadata. Default: false. */
                metadata_image_size?: boolean | null;
                /** @description Records Open Graph and Twitter tags and the description in the record’s metadata. Default: false. */
                metadata_open_graph?: boolean | null;
                /** @description Records the URL of the page’s best icon in the record’s metadata. Default: false. */
                metadata_icon?: boolean | null;
                /** @description Records the font families that the page uses in the record’s metadata. Default: false. */
                metadata_fonts?: boolean | null;
                /** @description Records the duration of each step and of the page load, in milliseconds, in the record’s metadata. Default: false. */
                metadata_timings?: boolean | null;
                /** @description Records the file’s SHA-256 and a perceptual hash of the picture in the record’s metadata. Default: false. */
                metadata_content_hash?: boolean | null;
                /** @description Records the picture’s main colors in the record’s metadata. Default: false. */
                metadata_palette?: boolean | null;
                /** @description Records the first 100 URLs that the page links to in the record’s metadata. Default: false. */
                metadata_links?: boolean | null;
                /** @description Records the number of blocked requests in the record’s metadata. Default: false. */
                metadata_blocked_requests?: boolean | null;
                /** @description Id of an earlier completed screenshot of the account, with whose picture to compare this one. The record then has comparison. Default: none. */
                compare_to?: string | null;
                /** @description Share of changed pixels above which the picture counts as changed, 0 to 1. With 0, one pixel is a change. Default: none, so that each changed region of a few pixels is a change. */
                compare_threshold?: number | null;
                /** @description Color difference up to which two pixels count as equal, 0 to 1; 1 is black and white. Default: 0.1. */
                compare_color_tolerance?: number | null;
                /** @description Counts changed pixels at the smoothed edges of text and shapes too. If false, they are detected and ignored. Default: false. */
                compare_antialiasing?: boolean | null;
                /** @description HTTP statuses from 400 on with which the page is compared, such as 404 or 500-511, at most 20. Other error pages are not compared. Default: none. */
                compare_accept_status?: string[] | null;
                /** @description CSS selectors, or regions with x, y, width and height (or left, top, width and height) in CSS pixels of the page, that are not compared, at most 20. The areas of the selectors in both pictures are ignored, if both captures have the selector. Default: none. */
                compare_ignore?: (string | ({
                    /** @description CSS selector of elements to ignore. */
                    selector?: string;
                    /** @description Left edge of a region in CSS pixels of the page, 0 to 50000. */
                    x?: number;
                    /** @description Top edge, 0 to 50000. */
                    y?: number;
                    /** @description The same as x. Use it in YAML. */
                    left?: number;
                    /** @description The same as y. Use it in YAML, where y without quotation marks is a boolean. */
                    top?: number;
                    /** @description Width, 1 to 50000. */
                    width?: number;
                    /** @description Height, 1 to 50000. */
                    height?: number;
                } & (unknown | ((unknown | unknown) & (unknown | unknown)))))[] | null;
                /** @description Your own bucket, to which the picture is copied in addition to the bucket of this service. Default: none. */
                storage_bucket?: string | null;
                /** @description URL of the S3-compatible store that has storage_bucket: https, host and port. Default: none. */
                storage_endpoint?: string | null;
                /** @description Region of storage_bucket, at most 64 characters. Default: us-east-1. */
                storage_region?: string | null;
                /** @description Whether storage_bucket is in the path of requests. False: it is in the host name (virtual-host style), unless the endpoint is an IP address or the bucket has a dot. Default: true. */
                storage_path_style?: boolean | null;
                /** @description Key of the copy, at most 512 characters. {id}, {host}, {date} and {format} are replaced with the screenshot’s id, the page’s host, the UTC date and the format. Default: {id}.{format}. */
                storage_path?: string | null;
                /** @description Request headers by name, at most 64. The browser sends them to the page’s own origin, unless headers_scope allows more. That of html and markdown is html_base_url. Default: none. */
                headers?: {
                    [key: string]: string;
                } | null;
                /** @description Cookies to set before the page is opened, at most 100. Default: none. */
                cookies?: ({
                    /** @description Name, at most 256 characters. */
                    name: string & (unknown & unknown);
                    /** @description Value, at most 4096 characters, without spaces at its ends. */
                    value: string & (unknown & unknown);
                    /** @description Host that receives the cookie; with a leading dot, its subdomains too. Default: the host of the page. */
                    domain?: string;
                    /** @description Path prefix that receives the cookie. Default: /. */
                    path?: string & (unknown & unknown);
                    /** @description Expiry as Unix time in seconds. Default: the end of the capture. */
                    expires?: number;
                    /** @description Hides the cookie from scripts. Default: false. */
                    http_only?: boolean;
                    /** @description Sends the cookie over https only. Default: false. */
                    secure?: boolean;
                    /**
                     * @description Attribute SameSite: Strict, Lax or None. Default: the browser’s default.
                     * @enum {string}
                     */
                    same_site?: "Strict" | "Lax" | "None";
                } | string)[] | null;
                /** @description Value of the header Authorization, at most 8192 characters. The browser sends it to the page’s own origin, unless headers_scope allows more. Default: none. */
                authorization?: string | null;
                /** @description User name for HTTP authentication at the page’s own origin, at most 1024 characters, without a colon. Default: none. */
                basic_auth_username?: string | null;
                /** @description Password for basic_auth_username, at most 1024 characters. Default: none. */
                basic_auth_password?: string | null;
                /** @description Entries of localStorage by name, at most 64 KiB in total. They are set for the page’s own origin before its first script. Default: none. */
                local_storage?: {
                    [key: string]: string;
                } | null;
                /** @description Access key id for storage_bucket, at most 256 characters. Default: none. */
                storage_access_key_id?: string | null;
                /** @description Secret access key for storage_bucket, at most 256 characters. Default: none. */
                storage_secret_access_key?: string | null;
                /** @description User name for proxy, at most 256 characters. Default: none. */
                proxy_username?: string | null;
                /** @description Password for proxy, at most 256 characters. Default: none. */
                proxy_password?: string | null;
            } | null;
        };
        /** @description Fields of an endpoint to change, at least one. */
        UpdateWebhook: {
            /** @description Display name, at most 100 characters. */
            name?: string;
            /**
             * Format: uri
             * @description URL to post to: https, public, without user name, password and fragment.
             */
            url?: string;
            /** @description Event types to send, at least one. */
            events?: ("screenshot.queued" | "screenshot.completed" | "screenshot.changed" | "screenshot.unfit" | "screenshot.fit" | "screenshot.failed" | "video.completed" | "video.failed")[];
            description?: string | null;
            is_active?: boolean | null;
        };
        /** @description Usage of the account in the current month. */
        Usage: {
            success: boolean;
            data: {
                /** @description UTC month. */
                period: string;
                /** @description Screenshots used in the period. */
                count: number;
                /** @description Quota: screenshots per month. */
                limit: number;
                /** @description Used percentage of the quota. Above 100 with overage. */
                percentage: number;
                /** @description Screenshots left. */
                remaining: number;
                /**
                 * Format: date-time
                 * @description Start of the next month.
                 */
                reset_at: string;
                /** @description The account’s plan. */
                plan: string;
                /** @description Create requests allowed in any 60 seconds. Null: no limit. */
                rate_limit_per_minute: number | null;
                /** @description Present when the account can exceed its quota. */
                overage?: {
                    /** @description Screenshots above the quota. */
                    count: number;
                    /** @description Price per thousand screenshots above the quota. */
                    unit_price_per_1000: number | null;
                    /** @description Cost of the screenshots above the quota so far. */
                    amount: number | null;
                };
            };
        };
        /** @description The full record of a video. It always has all fields; unknown values are null. */
        Video: {
            /** @description Id of the video. It has the form of a screenshot id. */
            id: string;
            /** @description URL of the page. */
            url: string;
            /** @description Same as url. The response to POST /screenshots/batch has only this name. */
            url_to_capture: string;
            /**
             * @description `pending` until the capture has finished.
             * @enum {string}
             */
            status: "pending" | "completed" | "failed";
            /** @description The options of the request. Always includes format, viewport_width, viewport_height and full_page. Secrets are masked. */
            options: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description Time at which the request was accepted.
             */
            created_at: string;
            started_at: string | null;
            completed_at: string | null;
            /** @description Estimated minimum and maximum duration, from the queue at creation time and the duration of recent captures. */
            estimated_time: string;
            /** @description Path of the stored file. */
            storage_path: string | null;
            file_size_bytes: number | null;
            processing_duration_ms: number | null;
            width: number | null;
            height: number | null;
            /** @description MIME type of the file. */
            content_type: string;
            /** @description A link to the file that needs no key. Null until the capture has completed, and after the file has expired. */
            download_url: string | null;
            download_url_expires_at: string | null;
            /** @description Additional files. */
            artifacts: {
                /**
                 * @description Kind of the artifact.
                 * @enum {string}
                 */
                type: "thumbnail" | "preview" | "html" | "text" | "markdown" | "links" | "mhtml" | "har" | "console" | "accessibility_tree" | "poster" | "diff";
                /** @description A link that needs no key. Null when the file has expired. */
                download_url: string | null;
                /** @description Size in bytes. */
                file_size_bytes: number;
                /** @description Slices in the file of a preview. A Range header reads one slice of it. */
                preview?: {
                    /** @description Pixels of a slice for each CSS pixel. */
                    scale: number;
                    /** @description Width of the whole picture, in CSS pixels. */
                    width: number;
                    /** @description Height of the whole picture, in CSS pixels. */
                    height: number;
                    /** @description Width that the slices show, from the left, in CSS pixels. */
                    shown_width: number;
                    /** @description Height that the slices show, from the top, in CSS pixels. */
                    shown_height: number;
                    /** @description Number of slices of this size that show the whole height. The file can have fewer. */
                    slice_count: number;
                    /** @description The slices, from top to bottom. Neighbors overlap. */
                    slices: {
                        /** @description First byte in the file. */
                        offset: number;
                        /** @description Number of bytes. */
                        length: number;
                        /** @description Width of the slice, in pixels. */
                        width: number;
                        /** @description Height of the slice, in pixels. */
                        height: number;
                        /** @description Top edge in the whole picture, in CSS pixels. */
                        y: number;
                    }[];
                };
            }[];
            /** @description Why the capture failed. */
            error: components["schemas"]["CaptureError"] | null;
            batch_id: string | null;
            schedule_id: string | null;
            /** @description Identifier that the client chose. */
            external_identifier: string | null;
            /** @description Metadata of the page. */
            metadata: {
                /** @description Title of the page. */
                page_title: string | null;
                /** @description URL after redirects. */
                final_url: string | null;
                /** @description HTTP status of the page. */
                http_status: number | null;
                /** @description What drew the picture. */
                engine?: {
                    /** @description Version of Chromium. */
                    chromium: string;
                    /** @description Version of the runner. */
                    runner: string;
                    /** @description Architecture of the processor, such as x64 or arm64. */
                    architecture: string;
                    /** @description Hash of the names and sizes of the fonts. */
                    fonts: string;
                    /** @description Version of the rules by which the runner reads the visible text. Absent: 1. */
                    text?: number;
                };
                /** @description CSS selectors of elements that moved when the picture was taken. */
                moving_elements?: string[];
                /** @description Size of the picture in device pixels (metadata_image_size). */
                image_size?: {
                    width: number;
                    height: number;
                };
                /** @description URLs of the redirects to final_url (metadata_final_url). */
                redirects?: string[];
                /** @description Headers of the page, without cookies (metadata_http_response_headers). */
                http_response_headers?: {
                    [key: string]: string;
                };
                /** @description Open Graph and Twitter tags, and the description (metadata_open_graph). */
                open_graph?: {
                    [key: string]: string;
                };
                /** @description URL of the best icon (metadata_icon). */
                icon?: string;
                /** @description Font families that the page uses (metadata_fonts). */
                fonts?: string[];
                /** @description Milliseconds (metadata_timings). */
                timings?: {
                    /** @description Duration of each step of the capture. */
                    steps: {
                        [key: string]: number;
                    };
                    /** @description Times of the page, from the start of its navigation. */
                    page: {
                        [key: string]: number;
                    };
                };
                /** @description SHA-256 of the file, and a 64-bit perceptual hash in hex: similar pictures share most of its bits (metadata_content_hash). */
                content_hash?: {
                    sha256: string;
                    perceptual?: string;
                };
                /** @description Main colors of the picture (metadata_palette). */
                palette?: string[];
                /** @description URLs that the page links to (metadata_links). */
                links?: string[];
                /** @description Requests of the page that were blocked (metadata_blocked_requests). */
                blocked_requests?: number;
            } | null;
            comparison: {
                /** @description Id of the screenshot of compare_to. */
                to: string;
                /** @description True if the page changed. rule says what decided. */
                changed: boolean;
                /** @description Changed pixels as a share of all pixels, 0 to 1. */
                changed_ratio: number | null;
                changed_pixels: number | null;
                /** @description True if the pictures have different sizes. Pixels that only one of them has are changed. */
                size_changed: boolean | null;
                /** @description Changed regions in pixels of the picture, the largest change first, at most 20. They do not overlap. */
                regions: {
                    x: number;
                    y: number;
                    width: number;
                    height: number;
                }[];
                region_count: number | null;
                dropped_regions: number | null;
                rule: ("identical" | "regions" | "color" | "size" | "share" | "loads" | "text" | "engine") | null;
                /** @description How often the page was loaded: a change is confirmed by a second load. */
                loads: number | null;
                /** @description True if the visible text changed, also outside of the picture. Null: not known. */
                text_changed: boolean | null;
                /** @description True if another browser or other fonts drew the earlier picture. Null: not known. */
                engine_changed: boolean | null;
                /** @description New words of the visible text, at most 20. */
                words_added: string[];
                /** @description Words that are gone, at most 20. */
                words_removed: string[];
                /** @description Link to a PNG of the differences that needs no key. Null if there are none, and after the file has expired. */
                diff_url: string | null;
                /** @description Why the pictures were not compared. blank: nearly one color. bot_challenge: a bot challenge or a captcha. http_error: a status of 400 or more that is not accepted. login: a login form where there was none. broken_off: the response broke off. */
                skipped: ("blank" | "bot_challenge" | "http_error" | "login" | "broken_off") | null;
            } | null;
            /** @description Options without effect, and problems of the page. */
            warnings: string[];
            /** @description True when the picture was cut at full_page_max_height or at the size limit of its format. */
            truncated: boolean;
            /** @description True when the picture is a copy of an earlier one. */
            cached: boolean;
            /** @description Number of attempts so far. */
            attempts: number;
            /** @description Units of quota that it costs. 0 for a cached picture, and for a failed capture, unless the page used a runner for more than 60 seconds. */
            cost: number;
            duration_ms: number | null;
            fps: number | null;
            frames: number | null;
            /**
             * @description Format of the file.
             * @enum {string}
             */
            format: "mp4" | "webm" | "gif";
        };
        /** @description Body of a post to an endpoint about a video. */
        VideoEvent: {
            /** @description Id of the event. It is the same for every attempt and every endpoint. */
            id: string;
            /** @enum {string} */
            type: "video.completed" | "video.failed";
            /**
             * Format: date-time
             * @description Time of the event.
             */
            created_at: string;
            data: {
                /** @description Present only in test events. */
                test?: boolean;
                video: components["schemas"]["Video"];
            };
        };
        /** @description One page of videos. */
        VideoList: {
            success: boolean;
            data: components["schemas"]["Video"][];
            pagination: {
                /** @description Records per page. */
                limit: number;
                /** @description Records skipped. */
                offset: number;
                /** @description True when there are more pages. */
                has_more: boolean;
                /** @description `cursor` of the next page. */
                next_cursor: string | null;
            };
        };
        Webhook: {
            /** @description Webhook id, prefix wh_. */
            id: string;
            name: string;
            url: string;
            events: ("screenshot.queued" | "screenshot.completed" | "screenshot.changed" | "screenshot.unfit" | "screenshot.fit" | "screenshot.failed" | "video.completed" | "video.failed")[];
            description: string | null;
            is_active: boolean;
            /** @description True for the default webhook, which signs deliveries to the webhook_url of single requests. Nothing is posted to its own url. */
            is_default: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Why the operator deactivated the webhook after days of failures. Null if it did not. Set is_active to true to reactivate it. */
            disabled_reason: string | null;
            /** @description The end of the signing secret, to distinguish secrets. */
            signing_secret_hint: string | null;
        };
        /** @description The updated webhook. */
        WebhookChanged: {
            message: string;
            data: components["schemas"]["Webhook"];
        };
        /** @description The created webhook. */
        WebhookCreated: {
            message: string;
            /** @description A webhook endpoint with its signing secret. Only the first response contains the secret, a replayed response does not. */
            data: {
                /** @description Webhook id, prefix wh_. */
                id: string;
                name: string;
                url: string;
                events: ("screenshot.queued" | "screenshot.completed" | "screenshot.changed" | "screenshot.unfit" | "screenshot.fit" | "screenshot.failed" | "video.completed" | "video.failed")[];
                description: string | null;
                is_active: boolean;
                /** @description True for the default webhook, which signs deliveries to the webhook_url of single requests. Nothing is posted to its own url. */
                is_default: boolean;
                /** Format: date-time */
                created_at: string;
                /** Format: date-time */
                updated_at: string;
                /** @description Why the operator deactivated the webhook after days of failures. Null if it did not. Set is_active to true to reactivate it. */
                disabled_reason: string | null;
                /** @description The end of the signing secret, to distinguish secrets. */
                signing_secret_hint: string | null;
                /** @description The signing secret. It is shown only once. */
                signing_secret?: string;
            };
        };
        /** @description A webhook and its delivery statistics. */
        WebhookFound: {
            success: boolean;
            data: {
                /** @description Webhook id, prefix wh_. */
                id: string;
                name: string;
                url: string;
                events: ("screenshot.queued" | "screenshot.completed" | "screenshot.changed" | "screenshot.unfit" | "screenshot.fit" | "screenshot.failed" | "video.completed" | "video.failed")[];
                description: string | null;
                is_active: boolean;
                /** @description True for the default webhook, which signs deliveries to the webhook_url of single requests. Nothing is posted to its own url. */
                is_default: boolean;
                /** Format: date-time */
                created_at: string;
                /** Format: date-time */
                updated_at: string;
                /** @description Why the operator deactivated the webhook after days of failures. Null if it did not. Set is_active to true to reactivate it. */
                disabled_reason: string | null;
                /** @description The end of the signing secret, to distinguish secrets. */
                signing_secret_hint: string | null;
                statistics: {
                    total_deliveries: number;
                    successful_deliveries: number;
                    failed_deliveries: number;
                    /** @description Another attempt follows. Counts at most 10,000 of archived screenshots. */
                    pending_deliveries: number;
                    /** @description Failed deliveries that POST /webhooks/{id}/redeliver-missed repeats, at most 10,000. */
                    missed_deliveries: number;
                    /** @description Percentage of the finished deliveries. */
                    success_rate: number | null;
                    average_response_time_ms: number | null;
                    last_delivery_at: string | null;
                    last_success_at: string | null;
                    last_failure_at: string | null;
                    /** @description HTTP status of the last response. 0 without a response. */
                    last_status_code: number | null;
                    /** @description Failed attempts since the last success. */
                    consecutive_failures: number;
                };
            };
        };
        /** @description One page of webhooks, oldest first. */
        WebhookList: {
            success: boolean;
            data: components["schemas"]["Webhook"][];
            pagination: {
                limit: number;
                offset: number;
                /** @description Total number of records. */
                total: number;
                has_more: boolean;
            };
        };
        /** @description How the endpoint responded to a test event. */
        WebhookTestResult: {
            /** @description True when the endpoint responded with 2xx in time. */
            success: boolean;
            message: string;
            /** @description HTTP status of the endpoint. 0 without a response. */
            status_code: number;
            response_time_ms: number;
            /** @description Reason of the failure. */
            error: string | null;
            /** Format: date-time */
            timestamp: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listScreenshots: {
        parameters: {
            query?: {
                /** @description Records per page. Values above 500 are reduced to 500. Default: 100. */
                limit?: number;
                /** @description `next_cursor` of the previous page of the same list. Unlike `offset`, it skips no records when others are created or deleted. Excludes offset. */
                cursor?: string;
                /** @description Records to skip; beyond 10000 only live ones are counted, and archived ones refused. Default: 0. */
                offset?: number;
                /** @description Time to sort by. Default: created_at. */
                sort?: "created_at" | "completed_at";
                /** @description `desc` lists the newest first, `asc` the oldest. Default: desc. */
                order?: "desc" | "asc";
                /** @description One or more states, separated by commas. */
                status?: ("pending" | "completed" | "failed")[];
                /** @description Only records after this time (ISO 8601). */
                created_after?: string;
                /** @description Only records before this time (ISO 8601). */
                created_before?: string;
                /** @description Only captures of exactly this URL. */
                url?: string;
                /** @description Only captures with exactly this external_identifier. */
                external_identifier?: string;
                /** @description Only screenshots of this batch. */
                batch_id?: string;
                /** @description Only captures in this format. */
                format?: "png" | "jpeg" | "webp" | "avif" | "pdf";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getScreenshot: {
        parameters: {
            query?: {
                /** @description Maximum seconds to hold the request until the capture has finished. */
                wait?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listVideos: {
        parameters: {
            query?: {
                /** @description Records per page. Values above 500 are reduced to 500. Default: 100. */
                limit?: number;
                /** @description `next_cursor` of the previous page of the same list. Unlike `offset`, it skips no records when others are created or deleted. Excludes offset. */
                cursor?: string;
                /** @description Records to skip; beyond 10000 only live ones are counted, and archived ones refused. Default: 0. */
                offset?: number;
                /** @description Time to sort by. Default: created_at. */
                sort?: "created_at" | "completed_at";
                /** @description `desc` lists the newest first, `asc` the oldest. Default: desc. */
                order?: "desc" | "asc";
                /** @description One or more states, separated by commas. */
                status?: ("pending" | "completed" | "failed")[];
                /** @description Only records after this time (ISO 8601). */
                created_after?: string;
                /** @description Only records before this time (ISO 8601). */
                created_before?: string;
                /** @description Only captures of exactly this URL. */
                url?: string;
                /** @description Only captures with exactly this external_identifier. */
                external_identifier?: string;
                /** @description Only captures in this format. */
                format?: "mp4" | "webm" | "gif";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getVideo: {
        parameters: {
            query?: {
                /** @description Maximum seconds to hold the request until the capture has finished. */
                wait?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    takePicture: {
        parameters: {
            query: {
                /** @description Id of the API key whose link secret signs the link. Required without the header Authorization. */
                key?: string;
                /** @description URL of the page. The parameter `html` or `markdown` can replace it. */
                url: string;
                /** @description Unix time at which the link stops working. Default: never. */
                expires?: string;
                /** @description HMAC-SHA256 of the other parameters, as 64 hexadecimal digits. Required without the header Authorization. */
                signature?: string;
                /** @description `image` responds to errors with a PNG picture of the error code, with the same status. */
                on_error?: "image";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listSchedules: {
        parameters: {
            query?: {
                /** @description Records per page. Values above 500 are reduced to 500. Default: 100. */
                limit?: number;
                /** @description Records to skip. Default: 0. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listScheduleRuns: {
        parameters: {
            query?: {
                /** @description Records per page. Values above 500 are reduced to 500. Default: 100. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description Includes inactive records. Default: false. */
                include_inactive?: "0" | "1" | "true" | "false";
                /** @description Records per page. Values above 500 are reduced to 500. Default: 100. */
                limit?: number;
                /** @description Records to skip. Default: 0. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description Records per page. Values above 500 are reduced to 500. Default: 100. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description One or more states, separated by commas. */
                status?: ("pending" | "successful" | "failed")[];
                /** @description Only deliveries of events of this screenshot. */
                screenshot_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listKeys: {
        parameters: {
            query?: {
                /** @description Includes inactive records. Default: false. */
                include_inactive?: "0" | "1" | "true" | "false";
                /** @description Records per page. Values above 500 are reduced to 500. Default: 100. */
                limit?: number;
                /** @description Records to skip. Default: 0. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
}
