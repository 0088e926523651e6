;;; session.el --- A person's session in Emacs  -*- coding: utf-8; lexical-binding: t -*-

;;; Commentary:

;; With the configuration that the documentation tells people to use (docs/editors/everproof.el).  Started by emacs.test.mjs as
;; `emacs --batch -l session.el', in a copy of fixtures/demo, with `everproof' on PATH.  Writes what came of each step, as JSON,
;; to the file EVERPROOF_RESULTS.  A step that fails ends the session.

;;; Code:

(require 'package)
(package-initialize)
(require 'cl-lib)
(require 'json)
(require 'cc-mode)
(load-file (getenv "EVERPROOF_CONFIGURATION"))

(setq eglot-sync-connect 180 eglot-connect-timeout 180 eglot-autoshutdown nil eglot-confirm-server-initiated-edits nil
      eglot-send-changes-idle-time 0.05 flymake-no-changes-timeout 0.05)

(defconst session-patience 180 "Seconds; only a session that fails waits this long.")
(defconst session-defect "\tif (item->count == 0)\n\t\titem_free(item);\n")
(defvar session-results nil)

(defun session-run-loop ()
  "What the command loop does between two keys; a batch Emacs has none."
  (run-hooks 'post-command-hook)
  (when (eglot-current-server)
    (eglot--signal-textDocument/didChange))
  (accept-process-output nil 0.02))

(defun session-until (what check)
  "Go on until CHECK returns something, which is returned; an error names WHAT."
  (let ((end (+ (float-time) session-patience)) found)
    (while (not (setq found (funcall check)))
      (when (> (float-time) end)
        (error "Never: %s" what))
      (session-run-loop))
    found))

(defun session-type (text)
  "Insert TEXT key by key."
  (mapc (lambda (key) (insert key) (session-run-loop)) text))

(defun session-code (diagnostic)
  "The rule of a flymake DIAGNOSTIC."
  (plist-get (cdr (assq 'eglot-lsp-diag (flymake-diagnostic-data diagnostic))) :code))

(defun session-findings (&optional rule)
  "The diagnostics of RULE, of use-after-free if none is named."
  (flymake-start)
  (seq-filter (lambda (diagnostic) (equal (session-code diagnostic) (or rule "use-after-free"))) (flymake-diagnostics)))

(defun session-actions ()
  "The code actions on the first finding."
  (let ((found (car (session-findings))))
    (append (eglot-code-actions (flymake-diagnostic-beg found) (flymake-diagnostic-end found) "quickfix" nil) nil)))

(defun session-action (words)
  "The code action whose title has WORDS."
  (or (seq-find (lambda (action) (string-match-p (regexp-quote words) (plist-get action :title))) (session-actions))
      (error "No action: %s" words)))

(defconst session-steps
  `(("the server is attached when a C file is opened" .
     ,(lambda ()
        (find-file "inventory.c")
        (session-until "attached" #'eglot-current-server)
        (cl-assert (equal (plist-get (eglot--server-info (eglot-current-server)) :name) "everproof") t)
        (flymake-mode 1)
        (session-until "lenses, when it is checked"
                       (lambda ()
                         (append (jsonrpc-request (eglot-current-server) :textDocument/codeLens
                                                  (list :textDocument (eglot--TextDocumentIdentifier)))
                                 nil)))
        (cl-assert (null (session-findings)) t)))
    ("a defect that is typed is found" .
     ,(lambda ()
        (goto-char (point-min))
        (search-forward "\titem->count -= count;\n")
        (session-type session-defect)
        (let ((found (car (session-until "a finding" #'session-findings))))
          (cl-assert (memq (flymake-diagnostic-type found) '(eglot-warning eglot-error)) t)
          (cl-assert (string-match-p "used after it was freed" (flymake-diagnostic-text found)) t))))
    ("a hover on a function says its verdict" .
     ,(lambda ()
        (save-excursion
          (goto-char (point-min))
          (search-forward "static int sel")
          (session-until
           "a verdict"
           (lambda ()
             (let ((hover (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams))))
               (string-match-p "\\*\\*sell\\*\\*: \\(✗ confirmed\\|⚠ possible\\): use-after-free"
                               (plist-get (plist-get hover :contents) :value))))))))
    ("the trace is shown step by step, through both files" .
     ,(lambda ()
        (goto-char (flymake-diagnostic-beg (car (session-findings))))
        (everproof-trace)
        (with-current-buffer "*everproof trace*"
          (let ((lines (split-string (buffer-string) "\n" t)))
            (cl-assert (> (length lines) 2) t)
            (cl-assert (seq-some (lambda (line) (string-match-p "/item\\.c:[0-9]+:[0-9]+: " line)) lines) t)
            (cl-assert (string-match-p "/inventory\\.c:[0-9]+:[0-9]+: " (car lines)) t)))
        (save-current-buffer
          (next-error 1)
          (cl-assert (member (buffer-name (window-buffer)) '("inventory.c" "item.c")) t))))
    ("a full check finds the same" .
     ,(lambda ()
        (let (told)
          (cl-letf (((symbol-function 'message) (lambda (form &rest rest) (setq told (and form (apply #'format form rest))))))
            (everproof-check))
          (cl-assert (equal told "Everproof: the full check is complete, findings: 1") t))
        (cl-assert (= 1 (length (session-findings))) t)))
    ("a suppression with its reason takes the finding away" .
     ,(lambda ()
        (let ((titles (mapcar (lambda (action) (plist-get action :title)) (session-actions))))
          (cl-assert (member "Everproof: explain use-after-free" titles) t)
          (cl-assert (member "Everproof: run a full check" titles) t))
        (eglot--apply-workspace-edit (plist-get (session-action "suppress") :edit))
        (goto-char (point-min))
        (search-forward "// everproof: ignore use-after-free ")
        (session-type "tested below")
        (session-until "no finding" (lambda () (null (session-findings))))
        (delete-region (line-beginning-position) (1+ (line-end-position)))
        (session-until "the finding again" #'session-findings)))
    ("the mended text has no finding" .
     ,(lambda ()
        (goto-char (point-min))
        (search-forward session-defect)
        (delete-region (match-beginning 0) (match-end 0))
        (session-until "no finding" (lambda () (null (session-findings))))))
    ("the server ends with the editor" .
     ,(lambda ()
        (set-buffer-modified-p nil)
        (let ((process (jsonrpc--process (eglot-current-server))))
          (eglot-shutdown (eglot-current-server) nil 10)
          (cl-assert (not (process-live-p process)) t))))))

(catch 'failed
  (dolist (step session-steps)
    (condition-case problem
        (progn
          (funcall (cdr step))
          (push `((name . ,(car step))) session-results))
      (error
       (push `((name . ,(car step)) (error . ,(format "%S; diagnostics: %S" problem (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))))
             session-results)
       (throw 'failed nil)))))

(with-temp-file (getenv "EVERPROOF_RESULTS")
  (insert (json-encode `((version . ,(format "Emacs %s" emacs-version))
                         (steps . ,(length session-steps))
                         (results . ,(vconcat (reverse session-results)))))))
(kill-emacs (if (assq 'error (car session-results)) 1 0))
;;; session.el ends here
